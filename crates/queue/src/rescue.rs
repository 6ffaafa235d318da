//! Takes jobs from workers that died. A duty of the housekeeper. If two processes do it at once,
//! each skips what the other one has locked.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection};
use tracing::warn;
use uuid::Uuid;

use crate::{DeathCause, JobId, enqueue::millis, metrics, shared::Shared, workers};

/// The most jobs rescued in one transaction, and the most transactions in one sweep.
const BATCH: i64 = 500;
const BATCHES: u32 = 100;

/// Rescues jobs up to a limit, because other duties wait.
pub(crate) async fn rescue(conn: &mut PgConnection, shared: &Shared) -> Result<(), sqlx::Error> {
    let mut rescued = BTreeMap::new();
    let mut ended = Ok(());
    for _ in 0..BATCHES {
        match rescue_some(conn, shared, &mut rescued).await {
            Ok(jobs) if jobs < BATCH => break,
            Ok(_) => {}
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
    }
    tell(conn, &rescued).await;
    ended
}

/// Logs how many jobs were rescued of each process that died, and which process that was.
async fn tell(conn: &mut PgConnection, rescued: &BTreeMap<Uuid, usize>) {
    if rescued.is_empty() {
        return;
    }
    let ids: Vec<Uuid> = rescued.keys().copied().collect();
    // Without an answer, the ids have to do.
    let mut named = workers::named(conn, &ids).await.unwrap_or_default();
    for (worker, jobs) in rescued {
        let (process, started) = named.remove(worker).unzip();
        let process = process.unwrap_or_default();
        warn!(
            jobs,
            %worker,
            host = process.host,
            pid = process.pid,
            role = process.role,
            metrics = process.metrics_address,
            version = process.version,
            started_at = started.map(tracing::field::display),
            "rescued jobs of a process that died"
        );
    }
}

struct Lost {
    id: JobId,
    worker: Uuid,
    queue: String,
    attempt: i16,
    max_attempts: i16,
}

/// Takes jobs from dead workers. They run again, or are doomed after their last attempt.
async fn rescue_some(
    conn: &mut PgConnection,
    shared: &Shared,
    rescued: &mut BTreeMap<Uuid, usize>,
) -> Result<i64, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let lost = sqlx::query_as!(
        Lost,
        r#"select j.id as "id: JobId", j.locked_by as "worker!", j.queue, j.attempt, j.max_attempts
           from queue.jobs j
          where j.state = 1
            and j.gen = any ((select queue.live_generations())::integer[])
            and not exists (select from queue.workers w
                             where w.id = j.locked_by and w.expires_at > now())
          limit $1
            for update of j skip locked"#,
        BATCH,
    )
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
    sqlx::query!(
        "update queue.jobs j
            set state = case when e.doomed then 3 when e.delay_ms > 0 then 2 else 0 end,
                gen = (select queue.enter_generation()),
                locked_by = null,
                run_at = now() + e.delay_ms * interval '1 millisecond',
                cause = case when e.doomed then $4 end,
                last_error = 'its worker died'
           from unnest($1::bigint[], $2::boolean[], $3::bigint[]) as e (id, doomed, delay_ms)
          where j.id = e.id",
        &ids as &[JobId],
        &doomed,
        &delays_ms,
        DeathCause::WorkerLost.as_str(),
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;

    for job in &lost {
        *rescued.entry(job.worker).or_default() += 1;
    }
    metrics::rescued(lost.len() as u64);
    for (job, doomed) in lost.iter().zip(doomed) {
        if doomed {
            shared.doomed.notify_one();
        } else {
            metrics::retried(&job.queue, metrics::WORKER_LOST, 1);
            shared.wake_if_known(&job.queue);
        }
    }
    Ok(i64::try_from(lost.len()).unwrap_or(BATCH))
}

/// Most workers die for reasons that are not the job's, so after the first time the job runs again
/// at once. A job that keeps losing workers may be the reason itself, and must not take down the
/// next worker right away.
fn delay_ms(shared: &Shared, job: &Lost) -> i64 {
    match job.attempt.unsigned_abs() {
        0 | 1 => 0,
        _ if job.attempt >= job.max_attempts => 0,
        attempt => {
            let settings = shared.known(&job.queue);
            let retry = settings.map(|settings| settings.retry).unwrap_or_default();
            millis(retry.delay(attempt - 1))
        }
    }
}
