//! What this process holds: every claimed job from the claim until its outcome is in the database.
//!
//! A hold that is dropped, for whatever reason, is forgotten here, while its row may still name this worker:
//! an answer to a claim that never arrived, a task that panicked. Such rows are found and released by
//! [`strays`](crate::strays), because nobody else would: their worker lives.

mod claim;
mod holds;
mod turn;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI32, Ordering},
    },
    time::Instant,
};

use tokio::sync::{Semaphore, TryAcquireError};
use tokio_util::task::task_tracker::TaskTrackerToken;

use self::holds::Fence;
use crate::slots::Slot;

pub(crate) use self::claim::Claim;
pub(crate) use self::holds::Holds;
pub(crate) use self::turn::Turn;

/// A claimed job in the hands of this process.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) claim: Claim,
    /// Before the claim was sent.
    pub(crate) since: Instant,
    /// The number that the row carries while it is ours: that of the claim, and one more for each checkpoint.
    fence: AtomicI32,
    /// One permit, for whatever of this job is being written; closed once its run has ended.
    writing: Arc<Semaphore>,
    /// From its hand-out until its run ends.
    slot: Mutex<Option<Slot>>,
    holds: Arc<Holds>,
    /// A closing backend waits until all of its holds are gone.
    _pending: TaskTrackerToken,
}

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
        let fence = Fence {
            number: claim.fence,
            may_be_next: false,
        };
        let before = holds.lock().insert(claim.job, fence);
        (before.map(|before| before.number) != Some(claim.fence)).then(|| {
            Arc::new(Self {
                claim,
                since,
                fence: AtomicI32::new(claim.fence),
                writing: Arc::new(Semaphore::new(1)),
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

    /// The job's slot. Taking it out frees it.
    pub(crate) fn take_slot(&self) -> Option<Slot> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }

    /// The number that the row carries while it is ours.
    pub(crate) fn fence(&self) -> i32 {
        self.fence.load(Ordering::SeqCst)
    }

    /// The right to write a checkpoint; none once the run has ended. Until it is dropped, the row may carry either number.
    pub(crate) async fn turn(self: &Arc<Self>) -> Option<Turn> {
        let permit = self.writing.clone().acquire_owned().await.ok()?;
        self.expect_next(true);
        Some(Turn {
            hold: self.clone(),
            _permit: permit,
        })
    }

    /// A checkpoint is written: the row carries the next number.
    fn advance(&self) {
        let number = self.fence.fetch_add(1, Ordering::SeqCst) + 1;
        let mut holds = self.holds.lock();
        if let Some(fence) = holds.get_mut(&self.claim.job)
            && fence.number == number - 1
        {
            fence.number = number;
        }
    }

    /// Waits for a checkpoint that is being written, and refuses further ones.
    pub(crate) async fn end(&self) {
        let last = self.writing.acquire().await;
        self.writing.close();
        drop(last);
    }

    /// The same where nobody can wait; false when a checkpoint is being written.
    pub(crate) fn try_end(&self) -> bool {
        let last = self.writing.try_acquire();
        if matches!(last, Err(TryAcquireError::NoPermits)) {
            return false;
        }
        self.writing.close();
        true
    }

    fn expect_next(&self, may_be_next: bool) {
        let own = self.fence();
        if let Some(fence) = self.holds.lock().get_mut(&self.claim.job)
            && fence.number == own
        {
            fence.may_be_next = may_be_next;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let own = self.fence();
        let mut holds = self.holds.lock();
        // The same job may have been claimed again meanwhile.
        if holds
            .get(&self.claim.job)
            .is_some_and(|fence| fence.number == own)
        {
            holds.remove(&self.claim.job);
        }
    }
}
