//! The secrets that sign a site's webhooks. A new secret signs from a given time on. For a day from
//! then, the previous secret signs too, so that receivers can switch at any time.

mod rotate;
mod status;

use domain::{
    id::SiteId,
    signature::{SigningSecrets, WebhookSecret},
};
use sqlx::PgConnection;

pub use self::{
    rotate::{Rotated, rotate},
    status::{Standing, standing},
};
use crate::{Error, encryption::MasterKey};

/// What a site's row says about its secrets at one moment.
pub(crate) struct Sealed<'a> {
    pub(crate) secret: &'a [u8],
    pub(crate) next: Option<&'a [u8]>,
    /// Whether the next secret signs already.
    pub(crate) is_active: bool,
    /// Whether the previous secret still signs.
    pub(crate) is_grace: bool,
}

impl Sealed<'_> {
    pub(crate) fn open(&self, key: &MasterKey, site: SiteId) -> Result<SigningSecrets, Error> {
        let open = |sealed: &[u8]| open(key, site, sealed);
        Ok(match self.next {
            Some(next) if self.is_active => SigningSecrets {
                current: open(next)?,
                previous: if self.is_grace {
                    Some(open(self.secret)?)
                } else {
                    None
                },
            },
            _ => SigningSecrets {
                current: open(self.secret)?,
                previous: None,
            },
        })
    }
}

/// The secrets that sign a site's webhooks now; none if there is no such site.
pub async fn signing(
    conn: &mut PgConnection,
    key: &MasterKey,
    site: SiteId,
) -> Result<Option<SigningSecrets>, Error> {
    let row = sqlx::query!(
        r#"
        select
            webhook_secret,
            next_webhook_secret,
            coalesce(next_webhook_secret_at <= now(), false) as "is_active!",
            coalesce(next_webhook_secret_at > now() - interval '24 hours', false) as "is_grace!"
        from sites
        where id = $1
        "#,
        site.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Sealed {
            secret: &row.webhook_secret,
            next: row.next_webhook_secret.as_deref(),
            is_active: row.is_active,
            is_grace: row.is_grace,
        }
        .open(key, site)
    })
    .transpose()
}

fn open(key: &MasterKey, site: SiteId, sealed: &[u8]) -> Result<WebhookSecret, Error> {
    let secret = key.open(&owner(site), sealed)?;
    let damaged = || Error::Unreadable("a webhook secret of an unknown form".into());
    let text = String::from_utf8(secret).map_err(|_| damaged())?;
    text.parse().map_err(|_| damaged())
}

/// What a site's webhook secrets are sealed for.
pub(crate) fn owner(site: SiteId) -> String {
    format!("webhook_secret:{site}")
}
