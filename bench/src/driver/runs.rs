//! Counts the jobs that a driver runs, and records the waits of jobs with a due time.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tokio::sync::Notify;

use super::Job;
use crate::clock::now_us;

#[derive(Debug, Default)]
pub(super) struct Runs {
    started: AtomicU64,
    done: AtomicU64,
    enqueued: AtomicU64,
    latencies_us: Mutex<Vec<u64>>,
    /// What [`Runs::reach`] waits for; 0 if nobody does.
    target: AtomicU64,
    reached: Notify,
}

impl Runs {
    /// A job has started.
    pub(super) fn start(&self, job: Job) {
        if job.due > 0 {
            let waited = now_us().saturating_sub(job.due);
            let latencies = &self.latencies_us;
            latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(waited);
        }
        let started = self.started.fetch_add(1, Relaxed) + 1;
        if started == self.target.load(Relaxed) {
            self.reached.notify_one();
        }
    }

    pub(super) fn started(&self) -> u64 {
        self.started.load(Relaxed)
    }

    /// Waits until so many have started.
    pub(super) async fn reach(&self, target: u64) {
        self.target.store(target, Relaxed);
        while self.started() < target {
            // Checks again from time to time, because the job that reached the target may not have
            // seen it yet.
            let patience = std::time::Duration::from_millis(2);
            let _ = tokio::time::timeout(patience, self.reached.notified()).await;
        }
    }

    /// What was noted since the last time.
    pub(super) fn take_latencies(&self) -> Vec<u64> {
        let mut latencies = self
            .latencies_us
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *latencies)
    }

    /// A run has ended well.
    pub(super) fn finish(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    pub(super) fn add_enqueued(&self, jobs: u64) {
        self.enqueued.fetch_add(jobs, Relaxed);
    }

    pub(super) fn enqueued(&self) -> u64 {
        self.enqueued.load(Relaxed)
    }
}
