//! What is forgotten of backtests that ended: first their details, much later the rest.

use std::time::Duration;

use sqlx::PgPool;

use super::Backtest;
use crate::{
    Error,
    batches::{self, Pace},
    chain,
};

/// Forgets the rules of backtests that ended longer than `age` ago, and the items that they list.
/// Their counts stay. Returns how many backtests that were.
pub(crate) async fn forget_details(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_details_of_one(pool, age)).await?)
}

async fn forget_details_of_one(pool: &PgPool, age: Duration) -> Result<u64, sqlx::Error> {
    // One at a time: it may list 10,000 items.
    let changed = sqlx::query!(
        "
        with ended as materialized (
            select id
            from backtests
            where detailed and ended_at <= now() - $1::float8 * interval '1 second'
            order by ended_at
            limit 1
            for update skip locked
        ),
        listed as (delete from backtest_changes where backtest_id in (select id from ended))
        update backtests set detailed = false, rules = '[]' where id in (select id from ended)
        ",
        age.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}

/// Forgets backtests that ended long ago, and says how many.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(chain::forget_old::<Backtest>(pool).await?)
}

#[cfg(test)]
mod tests;
