//! Removes what is no longer needed: entries that were removed long ago, those of deleted lists,
//! old imports and scans. It removes some rows at a time, and can run twice without harm.

use sqlx::PgPool;

use super::{entry::REMEMBERED, import::Import, scan::Scan};
use crate::{
    Error,
    batches::{self, Pace, ROWS},
    chain,
};

/// Removes all of it, and returns how many entries, imports and scans that were.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let removed = forget_removed(pool).await? + forget_deleted(pool).await?;
    let imports = chain::forget_old::<Import>(pool).await?;
    Ok(removed + imports + chain::forget_old::<Scan>(pool).await?)
}

/// A process that holds a list in memory and has not asked since then sees by `swept_revision` that
/// it must read it again.
async fn forget_removed(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some_removed(pool)).await?)
}

async fn forget_some_removed(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "
        with swept as (
            delete from hash_entries
            where ctid = any(
                array(
                    select ctid from hash_entries
                    where removed_at <= now() - $1::float8 * interval '1 second'
                    limit $2
                    for update skip locked
                )
            )
            returning list_id, revision
        ),
        told as (
            update hash_lists l
            set swept_revision = greatest(l.swept_revision, s.revision)
            from (select list_id, max(revision) as revision from swept group by list_id) s
            where l.id = s.list_id
        )
        select count(*) as \"count!\" from swept
        ",
        REMEMBERED.as_secs_f64(),
        ROWS,
    )
    .fetch_one(pool)
    .await?;
    Ok(u64::try_from(swept.count).unwrap_or(0))
}

async fn forget_deleted(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some_deleted(pool)).await?)
}

async fn forget_some_deleted(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from hash_entries
        where ctid = any(
            array(
                select e.ctid
                from hash_lists l
                cross join lateral (
                    select ctid from hash_entries where list_id = l.id limit $1 for update skip locked
                ) e
                where l.deleted_at is not null
                limit $1
            )
        )
        ",
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}
