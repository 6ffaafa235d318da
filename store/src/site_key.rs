//! Site keys: what applications submit with. Only their hashes are stored.

use chrono::{DateTime, Utc};
use domain::{
    id::{SiteId, SiteKeyId},
    key::SiteKey,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page};

/// A key without its secret.
#[derive(Clone, Debug)]
pub struct KeyRecord {
    /// The key.
    pub id: SiteKeyId,
    /// Its last four characters.
    pub hint: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was disabled, if it was.
    pub disabled_at: Option<DateTime<Utc>>,
}

/// Creates a key for a site; it is returned to be shown once.
pub async fn create(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(KeyRecord, SiteKey), Error> {
    let key = SiteKey::generate(std::iter::repeat_with(rand::random));
    let record = sqlx::query_as!(
        KeyRecord,
        "
        insert into site_keys (id, site_id, hash, hint)
        values ($1, $2, $3, $4)
        returning id, hint, created_at, disabled_at
        ",
        Uuid::now_v7(),
        site.as_uuid(),
        key.hash().as_bytes(),
        key.hint(),
    )
    .fetch_one(conn)
    .await?;
    Ok((record, key))
}

/// Replaces all keys of a site by a new one; the old ones are disabled at once, and returned. Run it in a transaction.
pub async fn rotate(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(KeyRecord, SiteKey, Vec<SiteKeyId>), Error> {
    // Of two rotations at once, the second must see what the first has created.
    lock_site(conn, site).await?;
    let replaced = disable_all(conn, site).await?;
    let (record, key) = create(conn, site).await?;
    Ok((record, key, replaced))
}

async fn lock_site(conn: &mut PgConnection, site: SiteId) -> Result<(), Error> {
    sqlx::query!(
        "select id from sites where id = $1 for no key update",
        site.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(())
}

async fn disable_all(conn: &mut PgConnection, site: SiteId) -> Result<Vec<SiteKeyId>, Error> {
    let disabled = sqlx::query_scalar!(
        "update site_keys set disabled_at = now() where site_id = $1 and disabled_at is null returning id",
        site.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(disabled.into_iter().map(SiteKeyId::from).collect())
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
        "select id, hint, created_at, disabled_at from site_keys where id = $1 and site_id = $2",
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
        select id, hint, created_at, disabled_at
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
