//! Removes the oldest rows of the audit log, if the operator wants that. Each chain loses rows only
//! at its beginning, and remembers the last one. So what is left can still be verified.

use std::time::Duration;

use domain::audit::chain::ChainId;
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;

use crate::{
    Error,
    batches::{Pace, ROWS},
};

/// Removes the rows that are older than `age`, and returns how many. Other processes may do the same
/// at the same time.
pub async fn forget_old(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    let mut removed = 0;
    let mut from = Some(ChainId::WITHOUT_TEAM);
    while let Some(first) = from {
        let begun = Instant::now();
        let Some(chain) = next_old(pool, first, age).await? else {
            break;
        };
        let rows = forget_some(pool, chain, age).await?;
        removed += rows;
        from = if rows == 0 {
            // Another process is doing it.
            chain.successor()
        } else {
            Some(chain)
        };
        Pace::Gentle.pause(begun).await;
    }
    Ok(removed)
}

/// The first chain from this one on whose first row is older than `age`.
async fn next_old(
    pool: &PgPool,
    from: ChainId,
    age: Duration,
) -> Result<Option<ChainId>, sqlx::Error> {
    let chain = sqlx::query_scalar!(
        "
        select c.chain
        from audit_chains c
        cross join lateral (
            select a.occurred_at
            from audit_log a
            where
                a.chain_number is not null and coalesce(a.team_id, '00000000-0000-0000-0000-000000000000') = c.chain
                and a.chain_number > c.start_number
            order by a.chain_number
            limit 1
        ) as oldest
        where c.chain >= $1 and oldest.occurred_at <= now() - $2::float8 * interval '1 second'
        order by c.chain
        limit 1
        ",
        from.as_uuid(),
        age.as_secs_f64(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(chain.map(ChainId::from_uuid))
}

/// Moves the beginning of a chain past its oldest rows, and deletes these. The database refuses to
/// delete others.
async fn forget_some(pool: &PgPool, chain: ChainId, age: Duration) -> Result<u64, sqlx::Error> {
    let mut tx = pool.begin().await?;
    if !move_start(&mut tx, chain, age).await? {
        return Ok(0);
    }
    let deleted = sqlx::query!(
        "
        delete from audit_log
        where
            chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
            and chain_number <= (select start_number from audit_chains where chain = $1)
        ",
        chain.as_uuid(),
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(deleted.rows_affected())
}

/// Moves the beginning up to the first row that is younger. Returns false if there is nothing to do,
/// or if another process has the chain.
async fn move_start(
    conn: &mut PgConnection,
    chain: ChainId,
    age: Duration,
) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        "select start_number from audit_chains where chain = $1 for update skip locked",
        chain.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(start) = locked else {
        return Ok(false);
    };
    let moved = sqlx::query!(
        "
        with oldest as materialized (
            select chain_number, chain_hash, occurred_at
            from audit_log
            where
                chain_number is not null and coalesce(team_id, '00000000-0000-0000-0000-000000000000') = $1
                and chain_number > $2
            order by chain_number
            limit $3
        ),
        last as (
            select o.chain_number, o.chain_hash
            from oldest o
            where
                o.chain_number < coalesce(
                    (
                        select min(y.chain_number)
                        from oldest y
                        where y.occurred_at > now() - $4::float8 * interval '1 second'
                    ),
                    9223372036854775807
                )
            order by o.chain_number desc
            limit 1
        )
        update audit_chains c
        set start_number = last.chain_number, start_hash = last.chain_hash
        from last
        where c.chain = $1
        ",
        chain.as_uuid(),
        start,
        ROWS,
        age.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(moved.rows_affected() > 0)
}
