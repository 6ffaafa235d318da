//! A process of the schedules.

use std::{collections::HashSet, sync::Arc};

use sqlx::PgPool;

use super::work::{Hands, LONG, QUEUE, settings};
use crate::{
    Config, JobId, Queue, dedicated_connection::DedicatedConnection, local_workers::LocalWorker,
};

/// A process without its tasks: it does nothing by itself.
pub(super) struct Process {
    pub(super) queue: Queue,
    pub(super) connection: DedicatedConnection,
    pub(super) suspects: HashSet<(JobId, i32)>,
    pub(super) hands: Arc<Hands>,
}

impl Process {
    /// Open it while there are no jobs: until its tasks have ended, they do their duty.
    pub(super) async fn open(pool: &PgPool) -> Self {
        let queue = Queue::open(pool.clone(), Config::default()).unwrap();
        queue.close(LONG).await;
        // This registers the queue's settings.
        drop(queue.backend::<()>(settings()));
        Self {
            hands: Hands::new(1, queue.shared().in_flight_jobs.clone()),
            connection: DedicatedConnection::new(pool),
            suspects: HashSet::new(),
            queue,
        }
    }

    /// Works under this cap from now on.
    pub(super) fn work(&mut self, lane_cap: usize) {
        let shared = self.queue.shared();
        let lane_cap = u32::try_from(lane_cap).unwrap();
        self.hands = Hands::new(lane_cap, shared.in_flight_jobs.clone());
        let local_worker: Arc<dyn LocalWorker> = self.hands.clone();
        shared
            .local_workers
            .add(Arc::downgrade(&local_worker), QUEUE);
    }
}
