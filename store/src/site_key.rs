//! Site keys as their teams see and disable them. (Making them is in [`crate::tenant`].)

use chrono::{DateTime, Utc};
use domain::{
    event::{iso8601, iso8601_or_null},
    id::{SiteId, SiteKeyId},
};
use serde::Serialize;
use sqlx::PgConnection;

use crate::{Error, page::Page};

/// A key without its secret. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRecord {
    /// The key.
    pub id: SiteKeyId,
    /// The site that it submits for.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Its last four characters.
    pub hint: String,
    /// When it was created.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it was disabled, if it was.
    #[serde(serialize_with = "iso8601_or_null")]
    pub disabled_at: Option<DateTime<Utc>>,
}

/// Disables a key, for ever. False: it was disabled already.
pub async fn disable(conn: &mut PgConnection, key: SiteKeyId) -> Result<bool, Error> {
    let disabled = sqlx::query!(
        "update site_keys set disabled_at = now() where id = $1 and disabled_at is null",
        key.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(disabled.rows_affected() > 0)
}

/// A key; none if there is none, or if it is not the site's.
pub async fn find(
    conn: &mut PgConnection,
    site: SiteId,
    key: SiteKeyId,
) -> Result<Option<KeyRecord>, Error> {
    let record = sqlx::query_as!(
        KeyRecord,
        "select id, site_id as site, hint, created_at, disabled_at from site_keys where id = $1 and site_id = $2",
        key.as_uuid(),
        site.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(record)
}

/// A site's keys, the oldest first, disabled ones too.
pub async fn list(
    conn: &mut PgConnection,
    site: SiteId,
    page: Page,
) -> Result<Vec<KeyRecord>, Error> {
    let records = sqlx::query_as!(
        KeyRecord,
        "
        select id, site_id as site, hint, created_at, disabled_at
        from site_keys
        where site_id = $1 and ($2::uuid is null or id > $2)
        order by id
        limit $3
        ",
        site.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(records)
}
