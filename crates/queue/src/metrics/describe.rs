//! What each metric means, for the recorder.

use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use super::{
    CLAIM_DURATION, FINISH_BACKLOG, JOB_CHECKPOINTS, JOB_DURATION, JOB_RETRIES, JOB_WAIT,
    JOBS_DEAD, JOBS_ENQUEUED, JOBS_FENCED, JOBS_FINISHED, JOBS_HANDED_OVER, JOBS_RESCUED,
    QUEUE_BOUND, QUEUE_JOBS, QUEUE_OLDEST_DUE, QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT,
    QUEUE_RUNNABLE, QUEUE_STATS_AT, SLOTS_BUSY, WORKER_HEARTBEAT,
};

/// Describes all metrics to the installed recorder.
pub(crate) fn describe() {
    describe_counter!(JOBS_ENQUEUED, Unit::Count, "Jobs enqueued");
    describe_counter!(
        JOBS_FINISHED,
        Unit::Count,
        "Ended runs by outcome, once written to the database"
    );
    describe_counter!(
        JOB_CHECKPOINTS,
        Unit::Count,
        "Effects recorded by running jobs"
    );
    describe_counter!(
        JOBS_HANDED_OVER,
        Unit::Count,
        "Jobs that the enqueuing process ran without a claim"
    );
    describe_histogram!(
        JOB_DURATION,
        Unit::Seconds,
        "Time from the start of a run to its end"
    );
    describe_histogram!(
        JOB_WAIT,
        Unit::Seconds,
        "Time from when a job is due to the start of its run"
    );
    describe_histogram!(CLAIM_DURATION, Unit::Seconds, "Time of one claim");
    describe_counter!(JOB_RETRIES, Unit::Count, "Failed attempts that are retried");
    describe_counter!(JOBS_DEAD, Unit::Count, "Jobs that died");
    describe_counter!(
        JOBS_RESCUED,
        Unit::Count,
        "Jobs taken over from dead workers"
    );
    describe_counter!(
        JOBS_FENCED,
        Unit::Count,
        "Results refused because another worker had taken the job over"
    );
    describe_gauge!(
        FINISH_BACKLOG,
        Unit::Seconds,
        "How long the oldest ended job of this process has waited to be recorded"
    );
    describe_gauge!(
        WORKER_HEARTBEAT,
        Unit::Seconds,
        "Unix time of the last successful heartbeat"
    );
    describe_gauge!(
        QUEUE_JOBS,
        Unit::Count,
        "Jobs by state; two processes read them for all"
    );
    describe_gauge!(
        QUEUE_RUNNABLE,
        Unit::Count,
        "Due jobs that no pause or cap holds back"
    );
    describe_gauge!(
        QUEUE_OLDEST_DUE,
        Unit::Seconds,
        "How long the oldest due job had waited at the last reading"
    );
    describe_gauge!(
        QUEUE_OLDEST_DUE_AT,
        Unit::Seconds,
        "Unix time at which the oldest due job became due; without due jobs, the time of the reading"
    );
    describe_gauge!(
        QUEUE_OLDEST_RUNNABLE_AT,
        Unit::Seconds,
        "Unix time at which the oldest due job became due, of the lanes that no pause or cap holds back; without such jobs, the time of the reading"
    );
    describe_gauge!(
        QUEUE_STATS_AT,
        Unit::Seconds,
        "Unix time of the last reading of the queues"
    );
    describe_counter!(
        QUEUE_BOUND,
        Unit::Seconds,
        "Time in which jobs waited in this process, by what held them back"
    );
    describe_gauge!(SLOTS_BUSY, Unit::Count, "Jobs that run in this process now");
}
