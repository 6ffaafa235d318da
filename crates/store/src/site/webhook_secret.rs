//! The secrets that sign a site's webhooks. A new secret signs from a given time on. For a day from
//! then, the previous secret signs too, so that receivers can switch at any time.

use chrono::{DateTime, Utc};
use domain::{
    id::SiteId,
    signature::{SigningSecrets, WebhookSecret},
};
use sqlx::PgConnection;

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

/// A new secret, and when it begins to sign.
#[derive(Debug)]
pub struct Rotated {
    /// To be shown once.
    pub secret: WebhookSecret,
    /// When it begins to sign.
    pub activates_at: DateTime<Utc>,
    /// Until when the previous secret signs too.
    pub previous_until: DateTime<Utc>,
    /// The state of the site's secrets before.
    pub before: Standing,
}

/// Makes a new secret for a site. It signs from `activate_at` on, or from now on if that time is
/// past or none. A site has at most two secrets: an older one that was scheduled for later, or that
/// still signed beside the current one, is dropped at once. None if there is no such site. Run it
/// in a transaction.
pub async fn rotate(
    conn: &mut PgConnection,
    key: &MasterKey,
    site: SiteId,
    activate_at: Option<DateTime<Utc>>,
) -> Result<Option<Rotated>, Error> {
    // When two rotations meet, the second must report which secret of the first it drops.
    sqlx::query_scalar!(
        "select id from sites where id = $1 for no key update",
        site.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    // This transaction may have begun before the first one, but its rotation comes after it.
    let now: DateTime<Utc> = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#)
        .fetch_one(&mut *conn)
        .await?;
    let Some(before) = standing_at(conn, site, Some(now)).await? else {
        return Ok(None);
    };
    let secret = WebhookSecret::from_random(rand::random());
    let row = sqlx::query!(
        r#"
        update sites
        set
            webhook_secret = case when next_webhook_secret_at <= $4 then next_webhook_secret else webhook_secret end,
            next_webhook_secret = $2,
            next_webhook_secret_at = greatest($3, $4)
        where id = $1
        returning
            next_webhook_secret_at as "activates_at!",
            next_webhook_secret_at + interval '24 hours' as "previous_until!"
        "#,
        site.as_uuid(),
        key.seal(&owner(site), secret.expose().as_bytes()),
        activate_at,
        now,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Rotated {
        secret,
        activates_at: row.activates_at,
        previous_until: row.previous_until,
        before,
    }))
}

/// Which secrets a site has, and when they sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// When the current secret began to sign; none: when the site was created.
    pub signs_since: Option<DateTime<Utc>>,
    /// Until when the previous secret signs too; none: it does not sign.
    pub previous_until: Option<DateTime<Utc>>,
    /// When the next secret begins to sign; none: there is no next secret.
    pub next_at: Option<DateTime<Utc>>,
}

/// Which secrets a site has; none if there is no such site.
pub async fn standing(conn: &mut PgConnection, site: SiteId) -> Result<Option<Standing>, Error> {
    standing_at(conn, site, None).await
}

/// The same at a given time; without a time, at the beginning of the transaction.
async fn standing_at(
    conn: &mut PgConnection,
    site: SiteId,
    at: Option<DateTime<Utc>>,
) -> Result<Option<Standing>, Error> {
    let standing = sqlx::query_as!(
        Standing,
        "
        select
            case when next_webhook_secret_at <= at then next_webhook_secret_at end as signs_since,
            case when next_webhook_secret_at <= at and next_webhook_secret_at > at - interval '24 hours'
            then next_webhook_secret_at + interval '24 hours' end as previous_until,
            case when next_webhook_secret_at > at then next_webhook_secret_at end as next_at
        from sites
        cross join (select coalesce($2, now()) as at) t
        where id = $1
        ",
        site.as_uuid(),
        at,
    )
    .fetch_optional(conn)
    .await?;
    Ok(standing)
}
