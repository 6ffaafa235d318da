//! The gauges of the queues' depth.

use ::metrics::gauge;

use super::{
    QUEUE_JOBS, QUEUE_OLDEST_DUE, QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT, QUEUE_RUNNABLE,
    QUEUE_STATS_AT,
};
use crate::stats::QueueStats;

/// Unix time at which the queues' depth was read; `None` if this process does not read it any more.
pub(crate) fn read_at(unix: Option<f64>) {
    gauge!(QUEUE_STATS_AT).set(unix.unwrap_or(0.0));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a gauge is a float; no queue nears 2^53 jobs"
)]
fn count(jobs: i64) -> f64 {
    jobs as f64
}

pub(crate) fn depth(stats: &QueueStats, read_at: Option<f64>) {
    for (state, jobs) in [
        ("due", stats.due),
        ("scheduled", stats.scheduled),
        ("running", stats.running),
        ("dead", stats.dead),
    ] {
        gauge!(QUEUE_JOBS, "queue" => stats.queue.clone(), "state" => state).set(count(jobs));
    }
    gauge!(QUEUE_RUNNABLE, "queue" => stats.queue.clone()).set(count(stats.runnable));
    gauge!(QUEUE_OLDEST_DUE, "queue" => stats.queue.clone()).set(stats.oldest_due_seconds);
    gauge!(QUEUE_OLDEST_DUE_AT, "queue" => stats.queue.clone())
        .set(read_at.map_or(0.0, |read_at| read_at - stats.oldest_due_seconds));
    gauge!(QUEUE_OLDEST_RUNNABLE_AT, "queue" => stats.queue.clone())
        .set(read_at.map_or(0.0, |read_at| read_at - stats.oldest_runnable_seconds));
}
