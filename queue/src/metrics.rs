//! The metrics of the queue, through the `metrics` facade. Labels are bounded: queues, outcomes, reasons, states.

use std::time::Duration;

use ::metrics::{
    Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};

use crate::{DeathCause, QueueName, outcome::RetryReason, stats::QueueStats};

/// Jobs enqueued, by `queue`; counted by [`Queue::enqueued`](crate::Queue::enqueued) and for follow-up jobs.
pub const JOBS_ENQUEUED: &str = "gatehouse_jobs_enqueued_total";
/// Outcomes written, by `queue` and `outcome`: `done`, `again`, `retry`, `dead`, `released`.
pub const JOBS_FINISHED: &str = "gatehouse_jobs_finished_total";
/// Seconds from the start of a run to its end, by `queue`.
pub const JOB_DURATION: &str = "gatehouse_job_duration_seconds";
/// Seconds from being due to the start, by `queue`.
pub const JOB_WAIT: &str = "gatehouse_job_wait_seconds";
/// Seconds that a claim took, the way to the database and back included, by `queue`.
pub const CLAIM_DURATION: &str = "gatehouse_queue_claim_seconds";
/// Failed attempts that are tried again, by `queue` and `reason`: `error`, `timeout`, `panic`, `effect`, `worker_lost`.
pub const JOB_RETRIES: &str = "gatehouse_job_retries_total";
/// Jobs that died, by `queue` and `reason`: `exhausted`, `aborted`, `undecodable`, `worker_lost`.
pub const JOBS_DEAD: &str = "gatehouse_jobs_dead_total";
/// Jobs taken from dead workers.
pub const JOBS_RESCUED: &str = "gatehouse_jobs_rescued_total";
/// Outcomes refused because the job was no longer this worker's.
pub const JOBS_FENCED: &str = "gatehouse_jobs_fenced_total";
/// Unix time of the last heartbeat that arrived.
pub const WORKER_HEARTBEAT: &str = "gatehouse_worker_heartbeat_timestamp_seconds";
/// Jobs by `queue` and `state`: `due`, `scheduled`, `running`, `dead`. Set by the elected process only.
pub const QUEUE_JOBS: &str = "gatehouse_queue_jobs";
/// How long the oldest due job has been due, by `queue`. Set by the elected process only.
pub const QUEUE_OLDEST_DUE: &str = "gatehouse_queue_oldest_due_seconds";

/// The reason of a retry whose worker died.
pub(crate) const WORKER_LOST: &str = "worker_lost";

/// Describes all metrics to the installed recorder.
pub(crate) fn describe() {
    describe_counter!(JOBS_ENQUEUED, Unit::Count, "Jobs enqueued");
    describe_counter!(
        JOBS_FINISHED,
        Unit::Count,
        "Outcomes of jobs written to the database"
    );
    describe_histogram!(
        JOB_DURATION,
        Unit::Seconds,
        "From the start of a run to its end"
    );
    describe_histogram!(
        JOB_WAIT,
        Unit::Seconds,
        "From being due to the start of the run"
    );
    describe_histogram!(CLAIM_DURATION, Unit::Seconds, "How long a claim took");
    describe_counter!(
        JOB_RETRIES,
        Unit::Count,
        "Failed attempts that are tried again"
    );
    describe_counter!(JOBS_DEAD, Unit::Count, "Jobs that died");
    describe_counter!(JOBS_RESCUED, Unit::Count, "Jobs taken from dead workers");
    describe_counter!(
        JOBS_FENCED,
        Unit::Count,
        "Outcomes refused: the job was another's by then"
    );
    describe_gauge!(
        WORKER_HEARTBEAT,
        Unit::Seconds,
        "Unix time of the last heartbeat that arrived"
    );
    describe_gauge!(
        QUEUE_JOBS,
        Unit::Count,
        "Jobs by state, read by one process"
    );
    describe_gauge!(
        QUEUE_OLDEST_DUE,
        Unit::Seconds,
        "Age of the oldest due job, read by one process"
    );
}

/// Shows a queue's incidents as 0 from the start: a counter that first appears with its first incident has no
/// increase then, so that nobody hears of it.
pub(crate) fn expect_none(queue: QueueName) {
    let reasons = RetryReason::ALL.map(RetryReason::as_str);
    for reason in reasons.into_iter().chain([WORKER_LOST]) {
        retried(queue.as_str(), reason, 0);
    }
    for cause in DeathCause::ALL {
        counter!(JOBS_DEAD, "queue" => queue.as_str(), "reason" => cause.as_str()).increment(0);
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

pub(crate) fn retried(queue: &str, reason: &'static str, count: u64) {
    counter!(JOB_RETRIES, "queue" => queue.to_owned(), "reason" => reason).increment(count);
}

pub(crate) fn dead(queue: &str, reason: &'static str) {
    counter!(JOBS_DEAD, "queue" => queue.to_owned(), "reason" => reason).increment(1);
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

pub(crate) fn durations(queue: QueueName) -> Histogram {
    histogram!(JOB_DURATION, "queue" => queue.as_str())
}

pub(crate) fn claims(queue: QueueName) -> Histogram {
    histogram!(CLAIM_DURATION, "queue" => queue.as_str())
}

pub(crate) fn waits(queue: QueueName) -> Histogram {
    histogram!(JOB_WAIT, "queue" => queue.as_str())
}

pub(crate) fn depth(stats: &QueueStats) {
    for (state, jobs) in [
        ("due", stats.due),
        ("scheduled", stats.scheduled),
        ("running", stats.running),
        ("dead", stats.dead),
    ] {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a gauge is a float; no queue nears 2^53 jobs"
        )]
        gauge!(QUEUE_JOBS, "queue" => stats.queue.clone(), "state" => state).set(jobs as f64);
    }
    gauge!(QUEUE_OLDEST_DUE, "queue" => stats.queue.clone()).set(stats.oldest_due_seconds);
}
