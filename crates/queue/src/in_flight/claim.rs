//! What this process knows of a job that it claimed.

use std::time::Duration;

use crate::{Group, JobId, Lane, QueueName, Retry, Run};

/// What this process knows about a job that it claimed. When the job ends, this proves that it was
/// claimed here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) job: JobId,
    /// The number that the claim gave the row. Each checkpoint raises it: see
    /// [`InFlightJob::fence`](super::InFlightJob::fence).
    pub(crate) fence: i32,
    pub(crate) queue: QueueName,
    pub(crate) group: Group,
    pub(crate) lane: Lane,
    pub(crate) attempt: i16,
    pub(crate) max_attempts: i16,
    pub(crate) waited: Duration,
    pub(crate) retry: Retry,
}

impl Claim {
    pub(crate) fn attempt(&self) -> u16 {
        self.attempt.unsigned_abs()
    }

    pub(crate) fn run(&self) -> Run {
        Run {
            job: self.job,
            queue: self.queue,
            group: self.group,
            lane: self.lane,
            attempt: self.attempt(),
            max_attempts: self.max_attempts.unsigned_abs(),
            waited: self.waited,
        }
    }

    pub(crate) fn is_last_attempt(&self) -> bool {
        self.attempt >= self.max_attempts
    }
}
