//! All jobs in flight of a process.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{JobId, QueueName};

/// All jobs in flight of a process, with their fences.
#[derive(Debug, Default)]
pub(crate) struct InFlightJobs(Mutex<HashMap<JobId, Fence>>);

/// The fence that the row of a job in flight may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence {
    pub(super) number: i32,
    /// A checkpoint is under way that gives the row the next number.
    pub(super) may_be_next: bool,
    pub(super) queue: QueueName,
    /// When the run ended; its outcome is not yet in the database.
    pub(super) ended: Option<Instant>,
}

impl InFlightJobs {
    /// Whether this claim is still in flight.
    pub(crate) fn contains(&self, job: JobId, fence: i32) -> bool {
        self.lock().get(&job).is_some_and(|held| {
            held.number == fence || held.may_be_next && held.number.wrapping_add(1) == fence
        })
    }

    /// When the run of each queue's job ended that has waited longest to be recorded.
    pub(crate) fn oldest_ended(&self) -> HashMap<QueueName, Instant> {
        let mut oldest = HashMap::new();
        for fence in self.lock().values() {
            if let Some(ended) = fence.ended {
                let first = oldest.entry(fence.queue).or_insert(ended);
                *first = ended.min(*first);
            }
        }
        oldest
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Fence>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
