//! Restarting the chain, and how far it is behind.

use std::time::Duration;

use queue::{NewJobs, live_jobs::Filter};
use sqlx::{PgConnection, PgPool};

use super::{ROW, Statistics};
use crate::{
    Error,
    chain::{self, Chain as _},
    jobs,
};

/// The pause between two runs of the chain.
const PAUSE: Duration = Duration::from_mins(1);

/// A running chain that did nothing for so long may have lost its job.
const STILL: Duration = Duration::from_mins(10);

/// Begins the chain, unless it runs or ended less than a minute ago. The answer has its first job:
/// tell the queue of it. Any number of processes may call it at any time. A chain that failed is
/// begun again, too, and so is one whose job was removed from the queue.
pub async fn begin(pool: &PgPool) -> Result<Option<NewJobs>, Error> {
    let mut tx = pool.begin().await?;
    if !is_begun(&mut tx).await? && !is_lost(&mut tx).await? {
        return Ok(None);
    }
    let jobs = chain::begin(&mut tx, jobs::add_up()).await?;
    tx.commit().await?;
    Ok(Some(jobs))
}

/// Without its indexes, which the migration may still be creating, a slice would read whole tables.
async fn is_begun(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let begun = sqlx::query!(
        "
        update statistics_progress
        set state = 'running', begun_at = now(), ended_at = null, error = null
        where
            id = $1 and state <> 'running' and ended_at <= now() - make_interval(secs => $2)
            and (
                select count(*)
                from pg_index i
                where
                    i.indisvalid
                    and i.indexrelid in (
                        to_regclass('media_stored_by_idx'), to_regclass('verdicts_stored_by_idx'),
                        to_regclass('delivery_attempts_stored_by_idx')
                    )
            ) = 3
        ",
        ROW,
        PAUSE.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(begun.rows_affected() > 0)
}

/// Whether the chain runs without a job. A job too many would do no harm: of two slices that begin
/// at the same place, one is stored.
async fn is_lost(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let still = sqlx::query!(
        "
        update statistics_progress
        set begun_at = now()
        where id = $1 and state = 'running' and begun_at <= now() - make_interval(secs => $2)
        ",
        ROW,
        STILL.as_secs_f64(),
    )
    .execute(&mut *conn)
    .await?;
    if still.rows_affected() == 0 {
        return Ok(false);
    }
    let filter = Filter {
        queue: Some(Statistics::QUEUE.as_str()),
        ..Filter::default()
    };
    Ok(queue::live_jobs::list(conn, filter, 1).await?.is_empty())
}

/// How old the time is up to which the figures are complete, in seconds.
pub async fn lag(pool: &PgPool) -> Result<f64, Error> {
    let lag = sqlx::query_scalar!(
        r#"
        select
            extract(epoch from now() - least(reached_at, (select min(since) from unnest(unfinished_since) as u (since))))::float8
                as "lag!"
        from statistics_progress
        where id = $1
        "#,
        ROW,
    )
    .fetch_one(pool)
    .await?;
    Ok(lag)
}
