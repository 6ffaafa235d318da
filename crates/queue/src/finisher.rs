//! The finisher: collects the jobs that ended, and writes them in one transaction.
//!
//! A batch that fails by itself is split until the failing job stands alone and is charged. A batch
//! that fails because of the database waits as long as necessary. Its jobs stay this worker's while
//! heartbeats arrive; otherwise the fence refuses them.

use std::sync::Arc;

use database::Trouble;
use telemetry::{failed, over};
use tracing::error;

use crate::{
    Retry,
    complete::{Failure, bounded_connection, complete},
    dedicated_connection::DedicatedConnection,
    fault::Fault,
    outcome::{Ended, Outcome, RetryReason, bounded},
    shared::Shared,
};

/// How often an unclear failure is waited for before the effects are blamed.
const UNCLEAR_TRIES: u32 = 3;

/// All finishers of a process write to the same database.
static TROUBLE: Trouble = Trouble::at_once();

/// Jobs to be written together.
struct Batch {
    ended: Vec<Ended>,
    unclear: u32,
}

/// Finishes jobs until the queue has closed and all are written.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut connection = bounded_connection(&shared.pool, shared.config.deadline);
    while let Some(ended) = shared
        .inbox
        .gather(shared.config.finish_batch, &shared.draining)
        .await
    {
        finish(&shared, &mut connection, ended).await;
        connection.rest().await;
    }
}

/// Writes a batch, in as many parts and tries as necessary.
async fn finish(shared: &Arc<Shared>, connection: &mut DedicatedConnection, ended: Vec<Ended>) {
    let mut batches = vec![Batch { ended, unclear: 0 }];
    let mut failures = 0;
    while let Some(mut batch) = batches.pop() {
        let failure = match complete(shared, connection, &batch.ended).await {
            Ok(written) => {
                failures = 0;
                over!(TROUBLE.worked(), "ended jobs are written again");
                written.report(shared, batch.ended);
                continue;
            }
            Err(failure) => failure,
        };
        match blame(&failure, &mut batch) {
            Fault::Effect | Fault::Statement => isolate(&failure, batch, &mut batches),
            Fault::System | Fault::Unclear => {
                failures += 1;
                let wait = Retry::OUTAGE.delay(failures);
                failed!(
                    TROUBLE.failed(&failure),
                    error = %failure,
                    jobs = batch.ended.len(),
                    ?wait,
                    "could not finish jobs; trying again"
                );
                batches.push(batch);
                if shared.pause(wait).await {
                    return;
                }
            }
        }
    }
}

/// Decides what is at fault for a failure of this batch.
fn blame(failure: &Failure, batch: &mut Batch) -> Fault {
    // Without an effect, there is no job to charge.
    if batch.ended.iter().all(|ended| ended.effect().is_none()) {
        return Fault::System;
    }
    match failure.fault() {
        Fault::Unclear => {
            batch.unclear += 1;
            if batch.unclear > UNCLEAR_TRIES {
                Fault::Effect
            } else {
                Fault::Unclear
            }
        }
        // The statement belongs to the effect.
        Fault::Effect | Fault::Statement => Fault::Effect,
        Fault::System => Fault::System,
    }
}

/// Splits a batch in two. If it has only one job, the job's effect has failed.
fn isolate(failure: &Failure, mut batch: Batch, batches: &mut Vec<Batch>) {
    let half = batch.ended.len() / 2;
    if half > 0 {
        for ended in [batch.ended.split_off(half), batch.ended] {
            batches.push(Batch { ended, unclear: 0 });
        }
    } else if let Some(Ended { in_flight, outcome }) = batch.ended.pop() {
        let run = &in_flight.run;
        if let Outcome::Checkpoint { answer, .. } = outcome {
            in_flight.trace.clone().sync_scope(|| {
                error!(job = %run.job, queue = %run.queue, attempt = run.attempt, error = %failure,
                    "the effect of a checkpoint failed; the job is told");
            });
            answer.failed(bounded(failure));
            return;
        }
        in_flight.trace.clone().sync_scope(|| {
            error!(job = %run.job, queue = %run.queue, attempt = run.attempt, error = %failure,
                "the effect of a job failed; the attempt is charged");
        });
        let outcome = Outcome::Failed {
            reason: RetryReason::Effect,
            error: bounded(format_args!("its effect failed: {failure}")),
            delay: None,
        };
        batch.ended.push(Ended { in_flight, outcome });
        batches.push(batch);
    }
}
