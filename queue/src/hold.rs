//! What this process holds: every claimed job from the claim until its outcome is in the database.
//!
//! A hold that is dropped, for whatever reason, is forgotten here, while its row may still name this worker:
//! an answer to a claim that never arrived, a task that panicked. Such rows are found and released by
//! [`strays`](crate::strays), because nobody else would: their worker lives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{JobId, outcome::Claim, slots::Slot};

/// A claimed job in the hands of this process.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) claim: Claim,
    /// Before the claim was sent.
    pub(crate) since: Instant,
    /// From its hand-out until its run ends.
    slot: Mutex<Option<Slot>>,
    holds: Arc<Holds>,
    /// A closing backend waits until all of its holds are gone.
    _pending: TaskTrackerToken,
}

/// All holds of a process, by their fences.
#[derive(Debug, Default)]
pub(crate) struct Holds(Mutex<HashMap<JobId, i32>>);

impl Hold {
    /// Takes a claimed job in hand; none when this very claim is in hand already.
    ///
    /// That happens after a crash of the server: it may lose a claim, because claims do not wait for the disk, and give the
    /// same job to the same worker again, with the same number. To run it twice would write its effect twice, since
    /// either outcome fits the row.
    pub(crate) fn new(
        claim: Claim,
        since: Instant,
        holds: &Arc<Holds>,
        pending: TaskTrackerToken,
    ) -> Option<Arc<Self>> {
        let before = holds.lock().insert(claim.job, claim.fence);
        (before != Some(claim.fence)).then(|| {
            Arc::new(Self {
                claim,
                since,
                slot: Mutex::new(None),
                holds: holds.clone(),
                _pending: pending,
            })
        })
    }

    /// Keeps the slot until the job starts.
    pub(crate) fn occupy(&self, slot: Slot) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }

    /// The job's slot, which whoever takes it frees.
    pub(crate) fn take_slot(&self) -> Option<Slot> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut holds = self.holds.lock();
        // The same job may have been claimed again meanwhile.
        if holds.get(&self.claim.job) == Some(&self.claim.fence) {
            holds.remove(&self.claim.job);
        }
    }
}

impl Holds {
    /// Whether the process still has this claim in hand.
    pub(crate) fn contains(&self, job: JobId, fence: i32) -> bool {
        self.lock().get(&job) == Some(&fence)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
