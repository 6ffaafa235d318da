//! The gauges of the queues' depth.
//!
//! NaN stands for "no value": whoever renders the metrics leaves it out. A number from the past, or
//! a zero, would be taken for true.

use ::metrics::gauge;

use super::{
    QUEUE_JOBS, QUEUE_OLDEST_DUE, QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT, QUEUE_RUNNABLE,
    QUEUE_STATS_AT,
};
use crate::depth::QueueStats;

const STATES: [&str; 4] = ["due", "scheduled", "running", "dead"];

/// What was read of a queue, at this Unix time.
pub(crate) fn depth(stats: &QueueStats, read_at: f64) {
    let jobs = [stats.due, stats.scheduled, stats.running, stats.dead];
    set(&stats.queue, jobs.map(count), count(stats.runnable));
    gauge!(QUEUE_OLDEST_DUE, "queue" => stats.queue.clone()).set(stats.oldest_due_seconds);
    gauge!(QUEUE_OLDEST_DUE_AT, "queue" => stats.queue.clone())
        .set(read_at - stats.oldest_due_seconds);
    gauge!(QUEUE_OLDEST_RUNNABLE_AT, "queue" => stats.queue.clone())
        .set(read_at - stats.oldest_runnable_seconds);
}

/// Unix time at which all queues were read.
pub(crate) fn read_at(unix: f64) {
    gauge!(QUEUE_STATS_AT).set(unix);
}

/// The numbers of a queue are too old. The times are still right.
pub(crate) fn no_depth(queue: &str) {
    set(queue, [f64::NAN; STATES.len()], f64::NAN);
    gauge!(QUEUE_OLDEST_DUE, "queue" => queue.to_owned()).set(f64::NAN);
}

/// Other processes publish the times of these queues.
pub(crate) fn no_times<'a>(queues: impl Iterator<Item = &'a String>) {
    for queue in queues {
        for times in [QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT] {
            gauge!(times, "queue" => queue.clone()).set(f64::NAN);
        }
    }
    gauge!(QUEUE_STATS_AT).set(f64::NAN);
}

fn set(queue: &str, jobs: [f64; STATES.len()], runnable: f64) {
    for (state, jobs) in STATES.into_iter().zip(jobs) {
        gauge!(QUEUE_JOBS, "queue" => queue.to_owned(), "state" => state).set(jobs);
    }
    gauge!(QUEUE_RUNNABLE, "queue" => queue.to_owned()).set(runnable);
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a gauge is a float; no queue nears 2^53 jobs"
)]
fn count(jobs: i64) -> f64 {
    jobs as f64
}
