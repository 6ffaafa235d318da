//! What jobs wait for outside of the queue, as their handlers say.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::Bottleneck;
use crate::QueueName;

/// The jobs of a process that wait for one thing, made by [`Queue::waits`](crate::Queue::waits).
/// Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Waits(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Running jobs that wait now.
    running: AtomicUsize,
    /// Until when jobs wait that went back to the queue.
    until: Mutex<Option<Instant>>,
}

/// A running job waits until this is dropped.
#[derive(Debug)]
pub struct Waiting(Arc<Inner>);

impl Waits {
    /// A running job waits from now on.
    #[must_use = "the wait ends when this is dropped"]
    pub fn begin(&self) -> Waiting {
        self.0.running.fetch_add(1, Relaxed);
        Waiting(Arc::clone(&self.0))
    }

    /// A job goes back to the queue for this time.
    pub fn note(&self, wait: Duration) {
        let mut until = self.lock();
        *until = (*until).max(Instant::now().checked_add(wait));
    }

    /// Whether a job waits now.
    #[must_use]
    pub fn any(&self) -> bool {
        self.0.running.load(Relaxed) > 0 || self.lock().is_some_and(|until| Instant::now() < until)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Relaxed);
    }
}

/// Everything that handlers of this process say.
#[derive(Debug, Default)]
pub(crate) struct AllWaits(Mutex<HashMap<(QueueName, Bottleneck), Waits>>);

impl AllWaits {
    pub(crate) fn of(&self, queue: QueueName, bound: Bottleneck) -> Waits {
        self.lock().entry((queue, bound)).or_default().clone()
    }

    /// Whether a job of this queue waits for this now.
    pub(crate) fn any(&self, queue: QueueName, bound: Bottleneck) -> bool {
        self.lock().get(&(queue, bound)).is_some_and(Waits::any)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(QueueName, Bottleneck), Waits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_wait_while_they_run_and_after_they_went_back() {
        const QUEUE: QueueName = QueueName::new("q");
        let all = AllWaits::default();
        let waits = all.of(QUEUE, Bottleneck::ProviderLimit);
        let any = || all.any(QUEUE, Bottleneck::ProviderLimit);
        assert!(!any());
        let (first, second) = (waits.begin(), waits.begin());
        drop(first);
        assert!(any());
        assert!(!all.any(QUEUE, Bottleneck::EndpointPace), "another thing");
        drop(second);
        assert!(!any());
        waits.note(Duration::from_hours(1));
        waits.note(Duration::ZERO);
        assert!(any(), "the longest wait counts");
    }
}
