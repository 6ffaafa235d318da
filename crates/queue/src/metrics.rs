//! The metrics of the queue, through the `metrics` facade. Labels are bounded: queues, outcomes,
//! reasons, states.

use std::time::Duration;

use ::metrics::{
    Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};

#[cfg(doc)]
use crate::Config;
use crate::{Bottleneck, DeathCause, QueueName, outcome::RetryReason};

/// Jobs enqueued, by `queue`; counted by [`Queue::enqueued`](crate::Queue::enqueued) and for
/// follow-up jobs.
pub const JOBS_ENQUEUED: &str = "gatehouse_jobs_enqueued_total";
/// Outcomes written, by `queue` and `outcome`: `done`, `again`, `retry`, `dead`, `released`.
pub const JOBS_FINISHED: &str = "gatehouse_jobs_finished_total";
/// Effects that running jobs have recorded, by `queue`.
pub const JOB_CHECKPOINTS: &str = "gatehouse_job_checkpoints_total";
/// Jobs that the enqueuing process took at once, without a claim, by `queue`.
pub const JOBS_HANDED_OVER: &str = "gatehouse_jobs_handed_over_total";
/// Seconds from the start of a run to its end, by `queue`.
pub const JOB_DURATION: &str = "gatehouse_job_duration_seconds";
/// Seconds from the time when a job is due to its start, by `queue`.
pub const JOB_WAIT: &str = "gatehouse_job_wait_seconds";
/// Seconds that a claim took, including the way to the database and back, by `queue`.
pub const CLAIM_DURATION: &str = "gatehouse_queue_claim_seconds";
/// Failed attempts that are tried again, by `queue` and `reason`: `error`, `timeout`, `panic`,
/// `effect`, `worker_lost`.
pub const JOB_RETRIES: &str = "gatehouse_job_retries_total";
/// Jobs that died, by `queue` and `reason`: `exhausted`, `aborted`, `undecodable`, `worker_lost`.
pub const JOBS_DEAD: &str = "gatehouse_jobs_dead_total";
/// Jobs taken from dead workers.
pub const JOBS_RESCUED: &str = "gatehouse_jobs_rescued_total";
/// Outcomes refused because the worker no longer had the job.
pub const JOBS_FENCED: &str = "gatehouse_jobs_fenced_total";
/// Seconds since the end of the run, by `queue`, of the job of this process that has waited longest
/// to be recorded; 0 if none waits.
pub const FINISH_BACKLOG: &str = "gatehouse_finish_backlog_seconds";
/// Unix time of the last heartbeat that arrived.
pub const WORKER_HEARTBEAT: &str = "gatehouse_worker_heartbeat_timestamp_seconds";
/// Jobs by `queue` and `state`: `due`, `scheduled`, `running`, `dead`. Only the two oldest
/// processes know it. In the others, and without a reading for three times [`Config::stats`], its
/// value is NaN, which means that it has none: leave such lines out.
pub const QUEUE_JOBS: &str = "gatehouse_queue_jobs";
/// Due jobs that could run now, by `queue`: they are not paused, and their lane's cap leaves room.
/// Set like `QUEUE_JOBS`.
pub const QUEUE_RUNNABLE: &str = "gatehouse_queue_runnable";
/// How long the oldest due job has been due, by `queue`, when that was read. Set like `QUEUE_JOBS`.
pub const QUEUE_OLDEST_DUE: &str = "gatehouse_queue_oldest_due_seconds";
/// Unix time at which the oldest due job became due, by `queue`; without due jobs, the time of the
/// reading. It is kept while the database is away, so that it shows how long jobs have waited.
pub const QUEUE_OLDEST_DUE_AT: &str = "gatehouse_queue_oldest_due_timestamp_seconds";
/// Unix time at which the oldest due job became due, of the lanes that no pause or cap holds back,
/// by `queue`; without such jobs, the time of the reading. Kept like `QUEUE_OLDEST_DUE_AT`.
pub const QUEUE_OLDEST_RUNNABLE_AT: &str = "gatehouse_queue_oldest_runnable_timestamp_seconds";
/// Unix time at which the queues' depth was read. Kept like `QUEUE_OLDEST_DUE_AT`.
pub const QUEUE_STATS_AT: &str = "gatehouse_queue_stats_timestamp_seconds";
/// Jobs of a queue that this process runs at the moment.
pub const SLOTS_BUSY: &str = "gatehouse_worker_slots_busy";

/// Seconds in which jobs of a queue waited in this process, by `queue` and by what held them back
/// ([`Bottleneck`]), `by`.
pub const QUEUE_BOUND: &str = "gatehouse_queue_bound_seconds_total";

/// How runs end.
const OUTCOMES: [&str; 5] = ["done", "again", "retry", "dead", "released"];
/// The reason of a retry whose worker died.
pub(crate) const WORKER_LOST: &str = "worker_lost";

/// Sets a queue's counters to 0 at the start. A counter that first appears with its first incident
/// shows no increase, so nobody would notice the incident. Every process does this, because each
/// may become the one that rescues jobs.
pub(crate) fn expect_none(queue: QueueName) {
    enqueued(queue.as_str(), 0);
    for outcome in OUTCOMES {
        finished(queue, outcome, 0);
    }
    checkpoints(queue, 0);
    handed_over(queue, 0);
    let reasons = RetryReason::ALL.map(RetryReason::as_str);
    for reason in reasons.into_iter().chain([WORKER_LOST]) {
        retried(queue.as_str(), reason, 0);
    }
    for cause in DeathCause::ALL {
        counter!(JOBS_DEAD, "queue" => queue.as_str(), "reason" => cause.as_str()).increment(0);
    }
    for by in Bottleneck::ALL {
        bound(queue, by, 0);
    }
    rescued(0);
    fenced(0);
}

pub(crate) fn enqueued(queue: &'static str, count: u64) {
    counter!(JOBS_ENQUEUED, "queue" => queue).increment(count);
}

pub(crate) fn finished(queue: QueueName, outcome: &'static str, count: u64) {
    counter!(JOBS_FINISHED, "queue" => queue.as_str(), "outcome" => outcome).increment(count);
}

pub(crate) fn checkpoints(queue: QueueName, count: u64) {
    counter!(JOB_CHECKPOINTS, "queue" => queue.as_str()).increment(count);
}

pub(crate) fn handed_over(queue: QueueName, count: u64) {
    counter!(JOBS_HANDED_OVER, "queue" => queue.as_str()).increment(count);
}

pub(crate) fn retried(queue: &str, reason: &'static str, count: u64) {
    counter!(JOB_RETRIES, "queue" => queue.to_owned(), "reason" => reason).increment(count);
}

pub(crate) fn dead(queue: &str, reason: &'static str) {
    counter!(JOBS_DEAD, "queue" => queue.to_owned(), "reason" => reason).increment(1);
}

pub(crate) fn bound(queue: QueueName, by: Bottleneck, seconds: u64) {
    counter!(QUEUE_BOUND, "queue" => queue.as_str(), "by" => by.as_str()).increment(seconds);
}

pub(crate) fn rescued(count: u64) {
    counter!(JOBS_RESCUED).increment(count);
}

pub(crate) fn fenced(count: u64) {
    counter!(JOBS_FENCED).increment(count);
}

pub(crate) fn heartbeat(unix: Duration) {
    gauge!(WORKER_HEARTBEAT).set(unix.as_secs_f64());
}

pub(crate) fn finish_backlog(queue: QueueName, waited: Duration) {
    gauge!(FINISH_BACKLOG, "queue" => queue.as_str()).set(waited.as_secs_f64());
}

pub(crate) fn slots_busy(queue: QueueName) -> Gauge {
    let gauge = gauge!(SLOTS_BUSY, "queue" => queue.as_str());
    gauge.increment(0.0);
    gauge
}

pub(crate) fn durations(queue: QueueName) -> Histogram {
    histogram!(JOB_DURATION, "queue" => queue.as_str())
}

pub(crate) fn claims(queue: QueueName) -> Histogram {
    histogram!(CLAIM_DURATION, "queue" => queue.as_str())
}

pub(crate) fn waits(queue: QueueName) -> Histogram {
    histogram!(JOB_WAIT, "queue" => queue.as_str())
}

/// Describes all metrics to the installed recorder.
pub(crate) fn describe() {
    let counter = |name: &'static str, text: &'static str| {
        describe_counter!(name, Unit::Count, text);
    };
    let histogram = |name: &'static str, text: &'static str| {
        describe_histogram!(name, Unit::Seconds, text);
    };
    let gauge = |name: &'static str, unit, text: &'static str| describe_gauge!(name, unit, text);
    counter(JOBS_ENQUEUED, "Jobs enqueued");
    counter(
        JOBS_FINISHED,
        "Ended runs by outcome, once written to the database",
    );
    counter(JOB_CHECKPOINTS, "Effects recorded by running jobs");
    counter(
        JOBS_HANDED_OVER,
        "Jobs that the enqueuing process ran without a claim",
    );
    histogram(JOB_DURATION, "Time from the start of a run to its end");
    histogram(
        JOB_WAIT,
        "Time from when a job is due to the start of its run",
    );
    histogram(CLAIM_DURATION, "Time of one claim");
    counter(JOB_RETRIES, "Failed attempts that are retried");
    counter(JOBS_DEAD, "Jobs that died");
    counter(JOBS_RESCUED, "Jobs taken over from dead workers");
    counter(
        JOBS_FENCED,
        "Results refused because another worker had taken the job over",
    );
    gauge(
        FINISH_BACKLOG,
        Unit::Seconds,
        "How long the oldest ended job of this process has waited to be recorded",
    );
    gauge(
        WORKER_HEARTBEAT,
        Unit::Seconds,
        "Unix time of the last successful heartbeat",
    );
    gauge(
        QUEUE_JOBS,
        Unit::Count,
        "Jobs by state; two processes read them for all",
    );
    gauge(
        QUEUE_RUNNABLE,
        Unit::Count,
        "Due jobs that no pause or cap holds back",
    );
    gauge(
        QUEUE_OLDEST_DUE,
        Unit::Seconds,
        "How long the oldest due job had waited at the last reading",
    );
    gauge(
        QUEUE_OLDEST_DUE_AT,
        Unit::Seconds,
        "Unix time at which the oldest due job became due; without due jobs, the time of the reading",
    );
    gauge(
        QUEUE_OLDEST_RUNNABLE_AT,
        Unit::Seconds,
        "Unix time at which the oldest due job became due, of the lanes that no pause or cap holds back; without such jobs, the time of the reading",
    );
    gauge(
        QUEUE_STATS_AT,
        Unit::Seconds,
        "Unix time of the last reading of the queues",
    );
    describe_counter!(
        QUEUE_BOUND,
        Unit::Seconds,
        "Time in which jobs waited in this process, by what held them back"
    );
    gauge(SLOTS_BUSY, Unit::Count, "Jobs that run in this process now");
}
