//! After the commit of a finishing transaction: counts, log lines, wake-ups.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use telemetry::{failed, over};
use tracing::{Level, enabled, warn};

use crate::{
    JobId, QueueName, metrics,
    outcome::{Disposition, Ended, Outcome, RetryReason},
    preclaimed::Enqueued,
    shared::{Attempts, Shared},
};

/// What a committed transaction did.
pub(crate) struct Written {
    /// The jobs that were still ours, with their fences.
    pub(crate) survivors: HashSet<(JobId, i32)>,
    /// The jobs that were enqueued.
    pub(crate) follow_ups: Enqueued,
}

/// The sums of the outcomes of one batch.
#[derive(Default)]
struct Tally {
    fenced: u64,
    outcomes: BTreeMap<(QueueName, &'static str), u64>,
    retries: BTreeMap<(QueueName, &'static str), u64>,
    finished: BTreeSet<QueueName>,
    checkpoints: BTreeMap<QueueName, u64>,
    released: BTreeSet<QueueName>,
    scheduled: BTreeSet<QueueName>,
    doomed: bool,
}

impl Written {
    /// Counts and logs what was written, answers checkpoints, and wakes workers that can go on now.
    pub(crate) fn report(self, shared: &Shared, ended: Vec<Ended>) {
        let mut tally = Tally::default();
        for ended in ended {
            let survives = self
                .survivors
                .contains(&(ended.in_flight.run.job, ended.in_flight.fence()));
            if survives {
                tally.add(&ended, &shared.attempts);
                if let Some(effect) = ended.effect() {
                    if enabled!(Level::DEBUG) {
                        // What it logs belongs to the trace of its item.
                        let trace = ended.in_flight.trace.clone();
                        trace.sync_scope(|| effect.committed());
                    } else {
                        effect.committed();
                    }
                }
            } else {
                tally.fenced += 1;
            }
            match ended.outcome {
                Outcome::Checkpoint { answer, .. } if survives => answer.recorded(),
                Outcome::Checkpoint { answer, .. } => answer.refused(),
                Outcome::Finished(_)
                | Outcome::Failed { .. }
                | Outcome::Postponed { .. }
                | Outcome::Dead { .. }
                | Outcome::Released => {}
            }
        }
        tally.publish(&shared.attempts);
        tally.wake(shared);
        self.follow_ups.committed(shared);
    }
}

impl Tally {
    fn add(&mut self, ended: &Ended, attempts: &Attempts) {
        let run = &ended.in_flight.run;
        let queue = run.queue;
        let outcome = match ended.disposition() {
            Disposition::Delete => {
                self.finished.insert(queue);
                "done"
            }
            Disposition::Release => {
                self.released.insert(queue);
                "released"
            }
            Disposition::GoOn => {
                *self.checkpoints.entry(queue).or_default() += 1;
                return;
            }
            Disposition::Doom { .. } => {
                self.doomed = true;
                // The dead-letter task, which tells why, does not know the trace.
                let trace = ended.in_flight.trace.clone();
                trace.sync_scope(|| {
                    warn!(job = %run.job, %queue, attempt = run.attempt, "the last attempt of a job failed");
                });
                "dead"
            }
            Disposition::Schedule {
                delay_ms, error, ..
            } => {
                self.scheduled.insert(queue);
                let reason = match ended.outcome {
                    Outcome::Failed { reason, .. } => Some(reason),
                    Outcome::Postponed { .. } => Some(RetryReason::Outage),
                    Outcome::Finished(_)
                    | Outcome::Dead { .. }
                    | Outcome::Released
                    | Outcome::Checkpoint { .. } => None,
                };
                if let (Some(reason), Some(error)) = (reason, error) {
                    let (trace, trouble) = (ended.in_flight.trace.clone(), attempts.of(queue));
                    trace.sync_scope(|| {
                        failed!(trouble.failed(&reason), job = %run.job, %queue, attempt = run.attempt, delay_ms,
                            error, "a job failed and will be tried again");
                    });
                    *self.retries.entry((queue, reason.as_str())).or_default() += 1;
                    "retry"
                } else {
                    "again"
                }
            }
        };
        *self.outcomes.entry((queue, outcome)).or_default() += 1;
    }

    fn publish(&self, attempts: &Attempts) {
        if self.fenced > 0 {
            warn!(
                jobs = self.fenced,
                "outcomes were refused: this worker no longer has the jobs"
            );
            metrics::fenced(self.fenced);
        }
        for (&(queue, outcome), &count) in &self.outcomes {
            metrics::finished(queue, outcome, count);
            if outcome == "done" {
                over!(attempts.of(queue).worked(), %queue, "jobs of this queue do not fail any more");
            }
        }
        for (&queue, &count) in &self.checkpoints {
            metrics::checkpoints(queue, count);
        }
        for (&(queue, reason), &count) in &self.retries {
            metrics::retried(queue.as_str(), reason, count);
        }
    }

    fn wake(&self, shared: &Shared) {
        if self.doomed {
            shared.doomed.notify_one();
        }
        shared
            .local_wakeups
            .wake(self.released.iter().map(|queue| queue.as_str()));
        for queue in &self.scheduled {
            // The next scheduled job may be due earlier than a sleeper expects.
            shared.local_wakeups.wake_here(queue.as_str());
        }
        for queue in &self.finished {
            shared.local_wakeups.room(queue.as_str());
        }
    }
}
