//! The workers of this process that take new jobs without a claim: see [`preclaimed`](crate::preclaimed).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
    time::Instant,
};

use crate::{
    BackendSettings, Bottleneck, Group, Lane, QueueName,
    in_flight::{Claim, InFlightJob},
    lock::lock,
};

/// A backend that takes jobs that its process has inserted for it.
pub(crate) trait LocalWorker: Send + Sync {
    /// Reserves places for jobs of a lane: as many as are wanted, or fewer.
    fn reserve(self: Arc<Self>, group: Group, lane: Lane, wanted: usize)
    -> Box<dyn ReservedPlaces>;

    /// What holds its jobs back now.
    fn bottleneck(&self) -> Option<Bottleneck>;
}

/// The workers of a process that take jobs, by queue. When a queue has several, the newest takes
/// all jobs.
#[derive(Debug, Default)]
pub(crate) struct LocalWorkers(Mutex<HashMap<&'static str, Weak<dyn LocalWorker>>>);

impl LocalWorkers {
    pub(crate) fn add(&self, local_worker: Weak<dyn LocalWorker>, queue: QueueName) {
        lock(&self.0).insert(queue.as_str(), local_worker);
    }

    pub(crate) fn of(&self, queue: &str) -> Option<Arc<dyn LocalWorker>> {
        lock(&self.0).get(queue).and_then(Weak::upgrade)
    }
}

/// Places in a buffer for jobs of one lane. Dropping it gives them back.
pub(crate) trait ReservedPlaces: Send + Sync {
    fn jobs(&self) -> usize;

    /// The settings of their worker.
    fn settings(&self) -> &BackendSettings;

    /// Tracks a job that is inserted and may be committed.
    fn track(&self, claim: Claim, since: Instant) -> Option<Arc<InFlightJob>>;

    /// Hands over jobs whose insertion is committed, with their payloads. A worker that has stopped
    /// in the meantime gives them back.
    fn fill(self: Box<Self>, jobs: Vec<(Arc<InFlightJob>, &str)>);
}
