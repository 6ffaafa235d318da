//! The workers of a process that take new jobs without a claim: see [`held`](crate::preclaimed).

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Instant,
};

use crate::{
    BackendSettings, Bound, Group, Lane, QueueName,
    in_flight::{Claim, Hold},
};

/// A backend that takes jobs that its process has inserted for it.
pub(crate) trait Taker: Send + Sync {
    fn settings(&self) -> &BackendSettings;

    /// Sets places aside for jobs of a lane: as many as are wanted, or fewer.
    fn set_aside(self: Arc<Self>, group: Group, lane: Lane, wanted: usize) -> Box<dyn Places>;

    /// What holds its jobs back now.
    fn bound(&self) -> Option<Bound>;

    /// Holds a job that is inserted and may be committed.
    fn hold(&self, claim: Claim, since: Instant) -> Option<Arc<Hold>>;
}

/// The workers of a process that take jobs, by queue. When a queue has several, the newest takes
/// all jobs.
#[derive(Default)]
pub(crate) struct Takers(Mutex<HashMap<&'static str, Weak<dyn Taker>>>);

impl Takers {
    pub(crate) fn add(&self, taker: Weak<dyn Taker>, queue: QueueName) {
        self.lock().insert(queue.as_str(), taker);
    }

    pub(crate) fn of(&self, queue: &str) -> Option<Arc<dyn Taker>> {
        self.lock().get(queue).and_then(Weak::upgrade)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<&'static str, Weak<dyn Taker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Takers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}

/// Places in a buffer for jobs of one lane. Dropping it gives them back.
pub(crate) trait Places: Send + Sync {
    fn jobs(&self) -> usize;

    /// Hands over jobs whose insertion is committed, with their payloads. A worker that has stopped
    /// in the meantime gives them back.
    fn fill(self: Box<Self>, jobs: Vec<(Arc<Hold>, &str)>);
}
