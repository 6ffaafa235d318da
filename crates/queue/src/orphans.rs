//! Orphans: releases jobs that the table assigns to this worker but that it does not know, because the
//! answer to their claim was lost or a task of the queue panicked. Only the process itself can know
//! this, so every process looks after its own jobs.

use std::{collections::HashSet, sync::Arc};

use database::Trouble;
use telemetry::{failed, over};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::info;

use crate::{JobId, shared::Shared};

/// Sweeps until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    // The time between sweeps is at least the longest delay of an answer. What two sweeps miss will
    // not come any more.
    let mut ticks = interval(shared.config.sweep.max(shared.config.deadline));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspects = HashSet::new();
    let trouble = Trouble::in_turn();
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let swept = timeout(shared.config.deadline, sweep(&shared, &mut suspects)).await;
        let swept = swept
            .map_err(|_| database::deadline_exceeded(shared.config.deadline))
            .flatten();
        match swept.map_err(database::counted) {
            Ok(()) => over!(
                trouble.worked(),
                "this process looks for jobs that never arrived again"
            ),
            Err(error) => failed!(
                trouble.failed(&error),
                %error,
                "could not look for jobs that were claimed but never arrived"
            ),
        }
    }
}

/// Two sweeps must agree, because an answer may be under way.
pub(crate) async fn sweep(
    shared: &Shared,
    suspects: &mut HashSet<(JobId, i32)>,
) -> Result<(), sqlx::Error> {
    let mut conn = shared.pool.acquire().await?;
    let claimed = sqlx::query!(
        r#"select id as "id!: JobId", fence as "fence!" from queue.claimed_by($1)"#,
        shared.worker,
    )
    .fetch_all(&mut *conn)
    .await?;
    let orphans: HashSet<(JobId, i32)> = claimed
        .into_iter()
        .map(|row| (row.id, row.fence))
        .filter(|&(job, fence)| !shared.in_flight_jobs.contains(job, fence))
        .collect();
    let (ids, fences): (Vec<JobId>, Vec<i32>) = orphans.intersection(suspects).copied().unzip();
    *suspects = orphans;
    if ids.is_empty() {
        return Ok(());
    }
    info!(
        jobs = ids.len(),
        "releasing jobs that were claimed but never arrived"
    );
    sqlx::query!(
        "update queue.jobs j
            set state = 0, gen = (select queue.enter_generation()), locked_by = null,
                attempt = j.attempt - 1
           from unnest($1::bigint[], $2::integer[]) as e (id, fence)
          where j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, $3) = 0",
        &ids as &[JobId],
        &fences,
        shared.worker,
    )
    .execute(&mut *conn)
    .await?;
    for queue in shared.known_queues() {
        shared.local_wakeups.wake_here(queue.as_str());
    }
    Ok(())
}
