//! Forgets what nobody needs any more: entries that were taken off long ago, those of deleted lists, old imports and scans.
//! Whoever does it does it some rows at a time, and doing it twice does no harm.

use sqlx::PgPool;

use super::{entry::REMEMBERED, import, scan};
use crate::Error;

/// Rows of one statement, which holds no lock for long.
const ROWS: i64 = 5_000;

/// Forgets it, and says how many entries, imports and scans they were.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let removed = forget_removed(pool).await? + forget_deleted(pool).await?;
    Ok(removed + import::forget_old(pool).await? + scan::forget_old(pool).await?)
}

/// A process that holds a list in memory and has not asked since then sees by `swept_revision` that it must read it again.
async fn forget_removed(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let rows = sqlx::query!(
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
        .await?
        .count;
        removed += u64::try_from(rows).unwrap_or(0);
        if rows == 0 {
            return Ok(removed);
        }
    }
}

async fn forget_deleted(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let rows = sqlx::query!(
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
        .await?
        .rows_affected();
        removed += rows;
        if rows == 0 {
            return Ok(removed);
        }
    }
}
