//! The tokio runtime: how busy its threads are, and what waits for them.

use std::time::Duration;

use metrics::gauge;
use tokio::{
    runtime::{Handle, RuntimeMetrics},
    time::Instant,
};

/// Measures how busy the runtime's threads were since the last measurement.
pub(super) struct Busy {
    metrics: RuntimeMetrics,
    measured: Instant,
    until_then: Duration,
}

impl Busy {
    pub(super) fn start() -> Self {
        let metrics = Handle::current().metrics();
        gauge!("gatehouse_runtime_workers").set(float(metrics.num_workers()));
        gauge!("gatehouse_runtime_busy_ratio").set(0.0);
        Self {
            measured: Instant::now(),
            until_then: busy(&metrics),
            metrics,
        }
    }

    /// Sets the gauge: 1 if all threads ran tasks all the time.
    pub(super) fn measure(&mut self) {
        let (measured, busy) = (Instant::now(), busy(&self.metrics));
        let threads = float(self.metrics.num_workers());
        let passed = (measured - self.measured).as_secs_f64() * threads;
        if passed > 0.0 {
            let ratio = busy.saturating_sub(self.until_then).as_secs_f64() / passed;
            gauge!("gatehouse_runtime_busy_ratio").set(ratio.min(1.0));
        }
        (self.measured, self.until_then) = (measured, busy);
    }
}

fn busy(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers())
        .map(|worker| metrics.worker_total_busy_duration(worker))
        .sum()
}

/// Sets the gauges that are read when metrics are requested.
pub(super) fn sample() {
    let metrics = Handle::current().metrics();
    gauge!("gatehouse_runtime_tasks").set(float(metrics.num_alive_tasks()));
    gauge!("gatehouse_runtime_queue_depth").set(float(metrics.global_queue_depth()));
}

#[expect(clippy::cast_precision_loss, reason = "these numbers are small")]
fn float(number: usize) -> f64 {
    number as f64
}
