//! Figures are kept for 400 days. They hold no content, so they outlast the items.

use sqlx::PgPool;

use crate::{
    Error,
    batches::{self, Pace, ROWS},
};

/// How many days figures are kept: more than a year.
pub const DAYS: i32 = 400;

/// Removes the figures that are too old, and returns how many rows that were. Other processes may
/// do the same at the same time.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let hours = batches::until_none(Pace::Gentle, || forget_hours(pool)).await?;
    Ok(hours + batches::until_none(Pace::Gentle, || forget_rules(pool)).await?)
}

async fn forget_hours(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query!(
        "
        delete from statistics_hours
        where ctid = any(
            array(
                select ctid from statistics_hours
                where hour < now() - make_interval(days => $1)
                limit $2
                for update skip locked
            )
        )
        ",
        DAYS,
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

async fn forget_rules(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query!(
        "
        delete from statistics_rules
        where ctid = any(
            array(
                select ctid from statistics_rules
                where day < (now() at time zone 'UTC')::date - $1::integer
                limit $2
                for update skip locked
            )
        )
        ",
        DAYS,
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}
