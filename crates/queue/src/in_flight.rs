//! Jobs in flight: every job that this process has claimed, from the claim until its outcome is in
//! the database.
//!
//! A dropped job is forgotten here, whatever the reason, while its row may still name this worker:
//! for example after an answer to a claim that never arrived, or a task that panicked.
//! [`orphans`](crate::orphans) finds such rows and releases them. Nobody else would, because their
//! worker is alive.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicI32, Ordering},
    },
    time::Instant,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{JobId, QueueName, Retry, Run, lock::lock, slots::Slot};

/// What this process knows about a job that it claimed. When the job ends, this proves that it was
/// claimed here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) run: Run,
    /// The number that the claim gave the row. Each checkpoint raises it: see
    /// [`InFlightJob::fence`].
    pub(crate) fence: i32,
    pub(crate) retry: Retry,
}

/// All jobs in flight of a process, with their fences.
#[derive(Debug, Default)]
pub(crate) struct InFlightJobs(Mutex<HashMap<JobId, Fence>>);

/// The fence that the row of a job in flight may have.
#[derive(Clone, Copy, Debug)]
struct Fence {
    number: i32,
    /// A checkpoint is under way that gives the row the next number.
    may_be_next: bool,
    queue: QueueName,
    /// When the run ended; its outcome is not yet in the database.
    ended: Option<Instant>,
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

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Fence>> {
        lock(&self.0)
    }
}

/// A claimed job whose outcome is not in the database yet.
#[derive(Debug)]
pub(crate) struct InFlightJob {
    pub(crate) run: Run,
    pub(crate) retry: Retry,
    /// A time before the claim was sent.
    pub(crate) since: Instant,
    /// The trace that the job works for, once its handler knows it.
    pub(crate) trace: telemetry::trace::Current,
    /// The number in the row while it is ours: that of the claim, plus one for each checkpoint.
    fence: AtomicI32,
    /// One permit for writing something of this job. Closed when its run has ended.
    writing: Arc<Semaphore>,
    /// From the hand-out until the end of the run.
    slot: Mutex<Option<Slot>>,
    in_flight_jobs: Arc<InFlightJobs>,
    /// A closing backend waits until none of its jobs is in flight.
    _pending: TaskTrackerToken,
}

impl InFlightJob {
    /// Tracks a claimed job. Returns `None` if exactly this claim is already in flight.
    ///
    /// That happens after a crash of the server. It may lose a claim, because claims do not wait
    /// for the disk, and give the same job to the same worker again, with the same number. Running
    /// it twice would write its effect twice, because either outcome would match the row.
    pub(crate) fn new(
        claim: Claim,
        since: Instant,
        in_flight_jobs: &Arc<InFlightJobs>,
        pending: TaskTrackerToken,
    ) -> Option<Arc<Self>> {
        let fence = Fence {
            number: claim.fence,
            may_be_next: false,
            queue: claim.run.queue,
            ended: None,
        };
        let before = in_flight_jobs.lock().insert(claim.run.job, fence);
        (before.map(|before| before.number) != Some(claim.fence)).then(|| {
            Arc::new(Self {
                run: claim.run,
                retry: claim.retry,
                since,
                trace: telemetry::trace::Current::default(),
                fence: AtomicI32::new(claim.fence),
                writing: Arc::new(Semaphore::new(1)),
                slot: Mutex::new(None),
                in_flight_jobs: in_flight_jobs.clone(),
                _pending: pending,
            })
        })
    }

    /// Keeps the slot until the job starts.
    pub(crate) fn occupy(&self, slot: Slot) {
        *lock(&self.slot) = Some(slot);
    }

    /// The job's slot. Taking it out frees it.
    pub(crate) fn take_slot(&self) -> Option<Slot> {
        lock(&self.slot).take()
    }

    /// The number in the row while it is ours.
    pub(crate) fn fence(&self) -> i32 {
        self.fence.load(Ordering::SeqCst)
    }

    /// The permit to write a checkpoint. `None` after the end of the run. Until it is dropped, the
    /// row may have either number.
    pub(crate) async fn write_permit(self: &Arc<Self>) -> Option<WritePermit> {
        let permit = self.writing.clone().acquire_owned().await.ok()?;
        self.expect_next(true);
        Some(WritePermit {
            in_flight: self.clone(),
            _permit: permit,
        })
    }

    /// A checkpoint is written: the row has the next number.
    fn advance(&self) {
        let number = self.fence.fetch_add(1, Ordering::SeqCst) + 1;
        let mut in_flight_jobs = self.in_flight_jobs.lock();
        if let Some(fence) = in_flight_jobs.get_mut(&self.run.job)
            && fence.number == number - 1
        {
            fence.number = number;
        }
    }

    /// Waits for a checkpoint that is being written, and refuses further ones.
    pub(crate) async fn end(&self) {
        self.note_end();
        let last = self.writing.acquire().await;
        self.writing.close();
        drop(last);
    }

    /// The same for callers that cannot wait. Returns false if a checkpoint is being written.
    pub(crate) fn try_end(&self) -> bool {
        self.note_end();
        let last = self.writing.try_acquire();
        if matches!(last, Err(TryAcquireError::NoPermits)) {
            return false;
        }
        self.writing.close();
        true
    }

    fn note_end(&self) {
        let own = self.fence();
        if let Some(fence) = self.in_flight_jobs.lock().get_mut(&self.run.job)
            && fence.number == own
        {
            fence.ended.get_or_insert_with(Instant::now);
        }
    }

    fn expect_next(&self, may_be_next: bool) {
        let own = self.fence();
        if let Some(fence) = self.in_flight_jobs.lock().get_mut(&self.run.job)
            && fence.number == own
        {
            fence.may_be_next = may_be_next;
        }
    }
}

impl Drop for InFlightJob {
    fn drop(&mut self) {
        let own = self.fence();
        let mut in_flight_jobs = self.in_flight_jobs.lock();
        // The same job may have been claimed again in the meantime.
        if in_flight_jobs
            .get(&self.run.job)
            .is_some_and(|fence| fence.number == own)
        {
            in_flight_jobs.remove(&self.run.job);
        }
    }
}

/// A checkpoint of a job is being written, and nothing else of it.
#[derive(Debug)]
pub(crate) struct WritePermit {
    in_flight: Arc<InFlightJob>,
    _permit: OwnedSemaphorePermit,
}

impl WritePermit {
    /// The checkpoint is written: from now on, the row has the next number.
    pub(crate) fn advance(&self) {
        self.in_flight.advance();
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        self.in_flight.expect_next(false);
    }
}

#[cfg(test)]
mod tests;
