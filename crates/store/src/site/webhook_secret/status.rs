//! Which secrets a site has, and when each of them signs.

use chrono::{DateTime, Utc};
use domain::id::SiteId;
use sqlx::PgConnection;

use crate::Error;

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
pub(super) async fn standing_at(
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
