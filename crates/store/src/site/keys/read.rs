//! Reading keys: one, or those of a site.

use domain::id::{SiteId, SiteKeyId};
use sqlx::PgConnection;

use super::KeyRecord;
use crate::{Error, page::Page};

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
