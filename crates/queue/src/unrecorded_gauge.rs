//! The gauge of ended jobs that are not recorded yet: how long they have waited. Jobs of a worker that cannot write, for
//! example because Postgres is away, are lost with the process. So operators want to see this.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{QueueName, metrics, shared::Shared};

/// How often the gauge is set.
const EVERY: Duration = Duration::from_secs(1);

/// Publishes until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    while !shared.pause(EVERY).await {
        let waiting = shared.in_flight_jobs.oldest_ended();
        publish(&shared.known_queues(), &waiting);
    }
}

fn publish(queues: &[QueueName], oldest: &HashMap<QueueName, Instant>) {
    for queue in queues {
        let waited = oldest.get(queue).map_or(Duration::ZERO, Instant::elapsed);
        metrics::finish_backlog(*queue, waited);
    }
}
