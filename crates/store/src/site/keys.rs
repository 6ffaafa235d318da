//! The keys with which applications submit for a site: create, rotate, list, disable.

use chrono::{DateTime, Utc};
use domain::{
    event::{iso8601, iso8601_or_null},
    id::{SiteId, SiteKeyId},
    key::SiteKey,
    plan::Limit,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::team_of;
use crate::{Error, page::Page, plan::limit};

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

/// Creates a key for a site; it is returned so that it can be shown once. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`].
pub async fn create(conn: &mut PgConnection, site: SiteId) -> Result<(SiteKeyId, SiteKey), Error> {
    if let Some(team) = team_of(conn, site).await? {
        limit::require(conn, team, Limit::SiteKeys).await?;
    }
    insert(conn, site).await
}

/// How many disabled keys of a team are remembered, so that replacing keys again and again leaves a
/// bounded number.
const DISABLED_KEYS: i64 = 1_000;

/// Forgets keys that were disabled earlier than these, with their usage counts.
async fn forget_disabled(conn: &mut PgConnection, site: SiteId) -> Result<(), Error> {
    sqlx::query!(
        "
        with forgotten as (
            delete from site_keys
            where id in (
                select k.id
                from sites s
                join site_keys k on k.site_id = s.id
                where s.team_id = (select team_id from sites where id = $1) and k.disabled_at is not null
                order by k.disabled_at desc, k.id desc
                offset $2
            )
            returning id
        )
        delete from rate_windows where site_key_id in (select id from forgotten)
        ",
        site.as_uuid(),
        DISABLED_KEYS,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn insert(conn: &mut PgConnection, site: SiteId) -> Result<(SiteKeyId, SiteKey), Error> {
    forget_disabled(conn, site).await?;
    let id = SiteKeyId::from(Uuid::now_v7());
    let key = SiteKey::generate(std::iter::repeat_with(rand::random));
    let hash = key.hash();
    sqlx::query!(
        "insert into site_keys (id, site_id, hash, hint) values ($1, $2, $3, $4)",
        id.as_uuid(),
        site.as_uuid(),
        hash.as_bytes(),
        key.hint(),
    )
    .execute(conn)
    .await?;
    Ok((id, key))
}

/// Replaces all keys of a site by a new one; the old ones are disabled at once. Run it in a
/// transaction.
///
/// # Errors
/// [`Error::LimitReached`], only if there was no key to replace: a team that has reached its limit,
/// or is beyond it, can always replace a key that became known.
pub async fn rotate(conn: &mut PgConnection, site: SiteId) -> Result<(SiteKeyId, SiteKey), Error> {
    // When two rotations meet, the second must see and replace the key that the first created.
    sqlx::query!(
        "select id from sites where id = $1 for no key update",
        site.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let replaced = sqlx::query!(
        "update site_keys set disabled_at = now() where site_id = $1 and disabled_at is null",
        site.as_uuid(),
    )
    .execute(&mut *conn)
    .await?
    .rows_affected();
    if replaced > 0 {
        insert(conn, site).await
    } else {
        create(conn, site).await
    }
}

/// Disables a key for ever. False: it was disabled already.
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

/// The minutes in which requests of these keys of a site were last counted. A key that was never used has none.
pub async fn last_used(
    conn: &mut PgConnection,
    site: SiteId,
    keys: &[SiteKeyId],
) -> Result<Vec<(SiteKeyId, DateTime<Utc>)>, Error> {
    let keys: Vec<Uuid> = keys.iter().map(|key| key.as_uuid()).collect();
    let used = sqlx::query!(
        r#"
        select k.id, max(w.minute) as "minute!"
        from site_keys k
        join rate_windows w on w.site_key_id = k.id
        where k.site_id = $1 and k.id = any($2)
        group by k.id
        "#,
        site.as_uuid(),
        &keys,
    )
    .fetch_all(conn)
    .await?;
    Ok(used
        .into_iter()
        .map(|row| (row.id.into(), row.minute))
        .collect())
}
