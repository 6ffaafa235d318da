//! The dead-letter task: moves doomed jobs to `queue.dead_jobs`, together with what their queue does
//! about a death.
//!
//! Any step that finds that a job must die only marks it. Only this module moves it, in one
//! transaction with its queue's [`OnDead`](crate::OnDead), and only in a process that works on
//! the queue, because only such a process knows that effect. While it fails, the job stays
//! marked.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use database::Trouble;
use futures::FutureExt;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use telemetry::{failed, over};
use tokio::time::timeout;
use tracing::{error, warn};

use crate::{
    BackendSettings, DeadJob, DeathCause, FinishTx, JobId, Lane, NewJobs, complete::Failure,
    enqueue::enqueue, fault::Fault, metrics, shared::Shared, supervise::panic_text,
};

/// The most jobs moved in one transaction.
const BATCH: i64 = 100;

/// Moves doomed jobs until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let trouble = Trouble::in_turn();
    loop {
        let mut moved = true;
        for queue in shared.known_queues() {
            if let Some(settings) = shared.known(queue.as_str())
                && let Err(error) = move_all_doomed(&shared, &settings).await
            {
                moved = false;
                failed!(trouble.failed(&error), %error, %queue, "could not bury dead jobs");
            }
        }
        if moved {
            over!(trouble.worked(), "dead jobs are buried again");
        }
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.doomed.notified() => {}
            () = tokio::time::sleep(shared.config.sweep) => {}
        }
    }
}

/// Moves all doomed jobs of a queue: many at once, and one by one after a failure, to find the job
/// that fails.
async fn move_all_doomed(shared: &Shared, settings: &BackendSettings) -> Result<(), Failure> {
    let mut alone = 0;
    loop {
        let limit = if alone > 0 { 1 } else { BATCH };
        match move_doomed(shared, settings, limit).await {
            Ok(0) => return Ok(()),
            Ok(_) => alone = (alone - 1).max(0),
            Err((failure, _)) if failure.fault() == Fault::System => return Err(failure),
            Err((failure, Some(job))) if limit == 1 => {
                error!(%job, queue = %settings.queue, error = %failure,
                    "the obituary of a dead job failed; the job stays until it succeeds");
                postpone(shared, job).await?;
                alone -= 1;
            }
            Err((failure, None)) => return Err(failure),
            Err((_, Some(_))) => alone = BATCH,
        }
    }
}

/// Moves doomed jobs in one transaction. On failure, returns the first of its jobs.
pub(crate) async fn move_doomed(
    shared: &Shared,
    settings: &BackendSettings,
    limit: i64,
) -> Result<usize, (Failure, Option<JobId>)> {
    let mut first = None;
    let mut conn = shared
        .pool
        .acquire()
        .await
        .map_err(|error| (error.into(), None))?;
    let moved = timeout(
        shared.config.deadline,
        move_in(shared, &mut conn, settings, limit, &mut first),
    );
    let failure = match AssertUnwindSafe(moved).catch_unwind().await {
        Ok(Ok(Ok((dead, follow_ups)))) => {
            for job in &dead {
                warn!(job = %job.id, queue = %settings.queue, attempt = job.attempt,
                    cause = job.cause.as_str(), error = job.error, "a job died");
                metrics::dead(settings.queue.as_str(), job.cause.as_str());
            }
            shared.enqueued(follow_ups.due());
            return Ok(dead.len());
        }
        Ok(Ok(Err(error))) => Failure::Sql(error),
        Ok(Err(_)) => Failure::TimedOut,
        Err(panic) => Failure::Panic(panic_text(&*panic).to_owned()),
    };
    conn.close_on_drop();
    Err((failure, first))
}

/// Begins a transaction with time limits, so that neither a stuck statement nor a stopped process
/// keeps its rows locked.
fn bounded_begin(deadline: Duration) -> AssertSqlSafe<String> {
    let deadline = deadline.as_millis();
    AssertSqlSafe(format!(
        "begin; set local statement_timeout = {deadline}; \
         set local idle_in_transaction_session_timeout = {deadline}"
    ))
}

async fn move_in(
    shared: &Shared,
    conn: &mut PgConnection,
    settings: &BackendSettings,
    limit: i64,
    first: &mut Option<JobId>,
) -> Result<(Vec<DeadJob>, NewJobs), sqlx::Error> {
    let mut tx = conn
        .begin_with(bounded_begin(shared.config.deadline))
        .await?;
    let doomed = sqlx::query!(
        r#"select id as "id!: JobId", lane as "lane!: Lane", attempt as "attempt!", cause as "cause!: DeathCause",
                      error as "error!", payload as "payload!"
                 from queue.doomed($1, $2)"#,
        settings.queue.as_str(),
        limit,
    )
    .fetch_all(&mut *tx)
    .await?;
    *first = doomed.first().map(|job| job.id);
    if doomed.is_empty() {
        return Ok((Vec::new(), NewJobs::new()));
    }
    let dead = doomed.into_iter().map(|job| DeadJob {
        id: job.id,
        lane: job.lane,
        attempt: job.attempt.unsigned_abs(),
        cause: job.cause,
        error: job.error,
        payload: job.payload,
    });
    let dead: Vec<DeadJob> = dead.collect();
    let mut finish = FinishTx {
        conn: &mut tx,
        jobs: NewJobs::new(),
    };
    if let Some(on_dead) = settings.on_dead {
        on_dead(&dead, &mut finish).await?;
    }
    let FinishTx { conn, jobs } = finish;
    enqueue(conn, &jobs).await?;
    sqlx::query!(
        "with gone as (
             delete from queue.jobs where id = any ($1) returning *
         )
         insert into queue.dead_jobs
                (id, queue, grp, lane, format, priority, attempt, max_attempts, created_at, cause, error, payload)
         select id, queue, grp, lane, format, priority, attempt, max_attempts, created_at, cause,
                coalesce(last_error, ''), payload
           from gone",
        &dead.iter().map(|job| job.id).collect::<Vec<_>>() as &[JobId],
    )
    .execute(&mut *conn)
    .await?;
    tx.commit().await?;
    Ok((dead, jobs))
}

/// Postpones the move of a job whose [`OnDead`](crate::OnDead) failed.
async fn postpone(shared: &Shared, job: JobId) -> Result<(), sqlx::Error> {
    let wait: Duration = shared.config.sweep * 6;
    sqlx::query!(
        "update queue.jobs
            set run_at = now() + $2::bigint * interval '1 millisecond'
          where id = $1 and state = 3",
        job.0,
        crate::enqueue::millis(wait),
    )
    .execute(&shared.pool)
    .await?;
    Ok(())
}
