//! What each process looks at regularly. It costs the claims nothing: it only reads what they, the
//! slots and the handlers note anyway.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{Bottleneck, QueueName, bottleneck::Window, lock::lock, metrics, shared::Shared};

/// How often a process looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often the gauge of unrecorded jobs is set.
const GAUGE_EVERY: Duration = Duration::from_secs(1);
/// The longest time that one look stands for. A process that stood still has seen nothing.
const LONGEST: Duration = Duration::from_secs(1);
/// Results that wait longer than this are recorded late.
const LATE: Duration = Duration::from_secs(1);

/// Looks at what holds each queue back, for the metric and for the report, until the queue closes.
pub(crate) async fn watch_bottlenecks(shared: Arc<Shared>) {
    let mut window = Window::default();
    let mut seconds = Seconds::default();
    let mut looked = Instant::now();
    while !shared.pause(LOOK_EVERY).await {
        let now = Instant::now();
        let passed = (now - looked).min(LONGEST);
        looked = now;
        let bound = look(&shared);
        for &(queue, by) in &bound {
            seconds.count(queue, by, passed);
        }
        window.add(passed, &bound);
        if window.is_over() {
            *lock(&shared.bounds) = window.json();
            window = Window::default();
        }
    }
}

/// What holds each queue back now, of those on which this process works.
fn look(shared: &Shared) -> Vec<(QueueName, Bottleneck)> {
    let oldest = shared.in_flight_jobs.oldest_ended();
    let bound = |queue: QueueName| {
        let local_worker = shared.local_workers.of(queue.as_str())?;
        let ended = oldest.get(&queue);
        let by = if ended.is_some_and(|ended| ended.elapsed() > LATE) {
            Bottleneck::Database
        } else {
            local_worker.bottleneck()?
        };
        Some((queue, by))
    };
    let queues = shared.known_queues().into_iter();
    queues.filter_map(bound).collect()
}

/// Counts whole seconds, as counters do, and keeps the rest.
#[derive(Default)]
struct Seconds(HashMap<(QueueName, Bottleneck), Duration>);

impl Seconds {
    fn count(&mut self, queue: QueueName, by: Bottleneck, time: Duration) {
        let kept = self.0.entry((queue, by)).or_default();
        *kept += time;
        let whole = kept.as_secs();
        if whole > 0 {
            metrics::bound(queue, by, whole);
            *kept = Duration::from_nanos(kept.subsec_nanos().into());
        }
    }
}

/// Sets the gauge of ended jobs that are not recorded yet, until the queue closes. Jobs of a worker
/// that cannot write, for example because Postgres is away, are lost with the process. So operators
/// want to see this.
pub(crate) async fn watch_unrecorded(shared: Arc<Shared>) {
    while !shared.pause(GAUGE_EVERY).await {
        let oldest = shared.in_flight_jobs.oldest_ended();
        for queue in shared.known_queues() {
            let waited = oldest.get(&queue).map_or(Duration::ZERO, Instant::elapsed);
            metrics::finish_backlog(queue, waited);
        }
    }
}
