//! Differences are forgotten after a month; counts stay.

use std::time::Duration;

use sqlx::PgPool;

use crate::{
    Error,
    batches::{self, Pace, ROWS},
};

/// How long differences are kept.
pub const KEPT: Duration = Duration::from_hours(30 * 24);

/// Forgets differences that are older than [`KEPT`], and says how many.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some(pool)).await?)
}

async fn forget_some(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from shadow_differences
        where ctid = any(
            array(
                select ctid from shadow_differences
                where judged_at <= now() - $1::float8 * interval '1 second'
                limit $2
                for update skip locked
            )
        )
        ",
        KEPT.as_secs_f64(),
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}
