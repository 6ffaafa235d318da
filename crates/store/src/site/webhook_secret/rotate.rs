//! Making a new secret for a site.

use chrono::{DateTime, Utc};
use domain::{id::SiteId, signature::WebhookSecret};
use sqlx::PgConnection;

use super::{
    owner,
    status::{Standing, standing_at},
};
use crate::{Error, encryption::MasterKey};

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
