//! Dead jobs in responses.

use api_common::field::{Field, Time};
use management::dead_jobs::Summary;
use poem_openapi::Object;
use queue::dead_jobs::{DeadJobRecord, Group};
use serde::Serialize;
use store::jobs;
use uuid::Uuid;

use crate::queues::parameters::Cause;

/// A job that does not run again unless it is replayed.
#[derive(Serialize, Object)]
pub(crate) struct DeadJob {
    /// The ID of the job. A replayed job gets a new one.
    id: i64,
    /// The name of its queue.
    queue: String,
    /// The ID of its group: the ID of the team. Jobs of a hash list that all teams share have the
    /// ID of the list.
    group_id: Uuid,
    /// The ID of its lane: the ID of the endpoint in `webhooks`, and the ID of the team in the other queues.
    lane_id: Uuid,
    /// The ID of the item, delivery, backtest, import, scan or recovery that the job is about.
    /// `null` if it is about several deliveries, or if this version cannot read it.
    #[oai(nullable)]
    subject_id: Option<Uuid>,
    /// Why it died. More causes may be added.
    cause: Field<Cause>,
    /// The last error, at most 2 KB.
    error: String,
    /// How many attempts it used.
    attempts: i64,
    /// How many attempts it had.
    max_attempts: i64,
    /// When it was enqueued.
    created_at: Field<Time>,
    /// When it died.
    died_at: Field<Time>,
}

impl From<DeadJobRecord> for DeadJob {
    fn from(job: DeadJobRecord) -> Self {
        Self {
            id: job.id.0,
            queue: job.queue,
            group_id: job.group.0,
            lane_id: job.lane.0,
            subject_id: jobs::subject(&job.payload),
            cause: Field(Cause(job.cause)),
            error: job.error,
            attempts: job.attempt.into(),
            max_attempts: job.max_attempts.into(),
            created_at: job.created_at.into(),
            died_at: job.died_at.into(),
        }
    }
}

/// Dead jobs counted by queue, cause and error.
#[derive(Serialize, Object)]
pub(crate) struct DeadJobSummary {
    /// The time of the database when they were counted.
    at: Field<Time>,
    /// How many dead jobs match.
    matching: i64,
    /// How many of them are in groups that were left out.
    left_out: i64,
    /// The largest groups, at most `limit`.
    data: Vec<DeadJobGroup>,
}

impl From<Summary> for DeadJobSummary {
    fn from(summary: Summary) -> Self {
        let matching = i64::try_from(summary.matching).unwrap_or(i64::MAX);
        let shown: i64 = summary.groups.iter().map(|group| group.jobs).sum();
        Self {
            at: summary.at.into(),
            matching,
            left_out: matching.saturating_sub(shown).max(0),
            data: summary.groups.into_iter().map(DeadJobGroup::from).collect(),
        }
    }
}

/// Dead jobs with the same queue, cause and error.
#[derive(Serialize, Object)]
pub(crate) struct DeadJobGroup {
    /// The name of the queue.
    queue: String,
    /// Why they died. More causes may be added.
    cause: Field<Cause>,
    /// The error that they share, at most 2 KB.
    error: String,
    /// How many jobs there are.
    jobs: i64,
    /// How many lanes they are in.
    lanes: i64,
    /// When the first of them died.
    first_died_at: Field<Time>,
    /// When the last of them died.
    last_died_at: Field<Time>,
}

impl From<Group> for DeadJobGroup {
    fn from(group: Group) -> Self {
        Self {
            queue: group.queue,
            cause: Field(Cause(group.cause)),
            error: group.error,
            jobs: group.jobs,
            lanes: group.lanes,
            first_died_at: group.first_died_at.into(),
            last_died_at: group.last_died_at.into(),
        }
    }
}
