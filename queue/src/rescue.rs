//! Gives back what nobody works on: the jobs of workers that died, and jobs that only the table thinks
//! this worker has. Every process does it; they skip what another one has in hand.

use std::{collections::HashSet, sync::Arc};

use sqlx::{Connection, PgConnection};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};
use uuid::Uuid;

use crate::{DeathCause, JobId, enqueue::millis, handle::Shared, hold::Holds, metrics};

/// The most jobs rescued in one transaction.
const BATCH: i64 = 500;

/// Sweeps until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut ticks = interval(shared.config.sweep);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspects = HashSet::new();
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = sweep(&shared, &mut suspects).await {
            warn!(%error, "could not look for lost jobs");
        }
    }
}

async fn sweep(shared: &Shared, suspects: &mut HashSet<(JobId, i32)>) -> Result<(), sqlx::Error> {
    let mut conn = shared.pool.acquire().await?;
    while rescue(&mut conn, shared).await? == BATCH {}
    release_strays(&mut conn, shared, suspects).await?;
    tidy(&mut conn).await
}

#[derive(sqlx::FromRow)]
struct Lost {
    id: JobId,
    queue: String,
    attempt: i16,
    max_attempts: i16,
}

/// Takes jobs from dead workers: they run again, or wait for their burial when that was their last attempt.
async fn rescue(conn: &mut PgConnection, shared: &Shared) -> Result<i64, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let lost: Vec<Lost> = sqlx::query_as(
        "select j.id, j.queue, j.attempt, j.max_attempts
           from queue.jobs j
          where j.state = 1
            and not exists (select from queue.workers w
                             where w.id = j.locked_by and w.expires_at > now())
          limit $1
            for update of j skip locked",
    )
    .bind(BATCH)
    .fetch_all(&mut *tx)
    .await?;
    if lost.is_empty() {
        return Ok(0);
    }
    let ids: Vec<JobId> = lost.iter().map(|job| job.id).collect();
    let doomed: Vec<bool> = lost
        .iter()
        .map(|job| job.attempt >= job.max_attempts)
        .collect();
    let delays_ms: Vec<i64> = lost.iter().map(|job| delay_ms(shared, job)).collect();
    sqlx::query(
        "update queue.jobs j
            set state = case when e.doomed then 3 when e.delay_ms > 0 then 2 else 0 end,
                locked_by = null,
                run_at = now() + e.delay_ms * interval '1 millisecond',
                cause = case when e.doomed then $4 end,
                last_error = 'its worker died'
           from unnest($1::bigint[], $2::boolean[], $3::bigint[]) as e (id, doomed, delay_ms)
          where j.id = e.id",
    )
    .bind(ids)
    .bind(&doomed)
    .bind(delays_ms)
    .bind(DeathCause::WorkerLost.as_str())
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;

    warn!(jobs = lost.len(), "rescued jobs of workers that died");
    metrics::rescued(lost.len() as u64);
    for (job, doomed) in lost.iter().zip(doomed) {
        if doomed {
            shared.doomed.notify_one();
        } else {
            metrics::retried(&job.queue, metrics::WORKER_LOST, 1);
            shared.wakers.wake_here(&job.queue);
        }
    }
    Ok(i64::try_from(lost.len()).unwrap_or(BATCH))
}

/// Most workers die for reasons that are not the job's, so the first time it runs again at once. One that keeps
/// losing workers may well be the reason, and must not take the next worker right away.
fn delay_ms(shared: &Shared, job: &Lost) -> i64 {
    match job.attempt.unsigned_abs() {
        0 | 1 => 0,
        _ if job.attempt >= job.max_attempts => 0,
        attempt => millis(shared.retry(&job.queue).delay(attempt - 1)),
    }
}

/// Releases jobs that the table gives to this worker, but that it does not have: the answer to their claim was
/// lost, or a task of the queue panicked. Two sweeps must agree, because an answer may be under way.
async fn release_strays(
    conn: &mut PgConnection,
    shared: &Shared,
    suspects: &mut HashSet<(JobId, i32)>,
) -> Result<(), sqlx::Error> {
    let strays = strays(conn, shared.worker, &shared.holds).await?;
    let (ids, fences): (Vec<JobId>, Vec<i32>) = strays.intersection(suspects).copied().unzip();
    *suspects = strays;
    if ids.is_empty() {
        return Ok(());
    }
    info!(
        jobs = ids.len(),
        "releasing jobs that were claimed but never arrived"
    );
    sqlx::query(
        "update queue.jobs j
            set state = 0, locked_by = null, attempt = j.attempt - 1
           from unnest($1::bigint[], $2::integer[]) as e (id, fence)
          where j.id = e.id and j.fence = e.fence and j.locked_by::text = $3",
    )
    .bind(ids)
    .bind(fences)
    .bind(shared.worker.to_string())
    .execute(conn)
    .await?;
    for queue in shared.known_queues() {
        shared.wakers.wake_here(queue.as_str());
    }
    Ok(())
}

async fn strays(
    conn: &mut PgConnection,
    worker: Uuid,
    holds: &Holds,
) -> Result<HashSet<(JobId, i32)>, sqlx::Error> {
    let rows: Vec<(JobId, i32)> =
        sqlx::query_as("select id, fence from queue.jobs where state = 1 and locked_by::text = $1")
            .bind(worker.to_string())
            .fetch_all(conn)
            .await?;
    Ok(rows
        .into_iter()
        .filter(|&(job, fence)| !holds.contains(job, fence))
        .collect())
}

/// Removes what says nothing any more: workers whose lease is over, and pauses that have ended.
async fn tidy(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("delete from queue.workers where expires_at <= now()")
        .execute(&mut *conn)
        .await?;
    sqlx::query("delete from queue.lanes where cap is null and paused_until <= now()")
        .execute(conn)
        .await?;
    Ok(())
}
