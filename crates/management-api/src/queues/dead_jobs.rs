//! Dead jobs: list, count by cause, enqueue again.

mod cursor;

use api_common::{Code, Field, Json, JsonBody, Query, Refusal, Schema, Time};
use domain::scope::Scope;
use management::{
    Refused,
    dead_jobs::{self, Summary},
};
use poem_openapi::OpenApi;
use queue::dead_jobs::{DeadJobRecord, Group};
use serde::Serialize;
use serde_json::json;
use store::jobs;
use uuid::Uuid;

use self::cursor::{DeadJobReplay, Given, NewDeadJobReplay, as_id, place_of};
use super::parameters::{Cause, ErrorText, QueueKey};
use crate::{After, Caller, DEFAULT_LIMIT, Limit, List, Operation, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct DeadJobs;

#[OpenApi(tag = "Tag::Queues")]
impl DeadJobs {
    /// List dead jobs
    ///
    /// Returns the latest first. A dead job does not run again unless you replay it. Jobs carry
    /// only IDs, and what a job carries is not shown, except for the one ID that it is about. Only
    /// operators can read dead jobs.
    #[oai(path = "/dead-jobs", method = "get", operation_id = "listDeadJobs")]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_dead_jobs(
        &self,
        caller: Caller,
        /// Only jobs of this queue.
        queue: Query<QueueKey>,
        /// Only jobs that died of this cause.
        cause: Query<Cause>,
        /// Only jobs with this text in their error.
        error: Query<ErrorText>,
        /// Only jobs of this team, in all its lanes.
        team_id: Query<Uuid>,
        /// Only jobs of this lane: an endpoint in `webhooks`, and otherwise a team.
        lane_id: Query<Uuid>,
        /// Only jobs that died at this time or later.
        since: Query<Time>,
        /// Only jobs that died before this time.
        until: Query<Time>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<DeadJob>>, Refusal> {
        let given = Given {
            ids: None,
            queue: queue.0,
            cause: cause.0,
            error: error.0,
            team: team_id.0,
            lane: lane_id.0,
            since: since.0,
            until: until.0,
        };
        let part = Part::new(&limit, &cursor);
        let last = part.after().map(place_of).transpose()?;
        let filter = given.before(last);
        let rows = u32::try_from(part.page().limit).unwrap_or(u32::MAX);
        let jobs = dead_jobs::list(&caller, filter, rows).await?;
        Ok(Json(part.list(jobs, |job| as_id(job.place()))))
    }

    /// Count dead jobs by cause
    ///
    /// Counts by queue, cause and error, the largest group first. Takes time in proportion to the
    /// dead jobs, some seconds for a million. Only operators can read dead jobs.
    #[oai(
        path = "/dead-jobs/summary",
        method = "get",
        operation_id = "getDeadJobSummary"
    )]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn get_dead_job_summary(
        &self,
        caller: Caller,
        /// Only jobs of this queue.
        queue: Query<QueueKey>,
        /// Only jobs that died of this cause.
        cause: Query<Cause>,
        /// Only jobs with this text in their error.
        error: Query<ErrorText>,
        /// Only jobs of this team, in all its lanes.
        team_id: Query<Uuid>,
        /// Only jobs of this lane: an endpoint in `webhooks`, and otherwise a team.
        lane_id: Query<Uuid>,
        /// Only jobs that died at this time or later.
        since: Query<Time>,
        /// Only jobs that died before this time.
        until: Query<Time>,
        /// The most groups.
        limit: Query<Limit>,
    ) -> Result<Json<DeadJobSummary>, Refusal> {
        let given = Given {
            ids: None,
            queue: queue.0,
            cause: cause.0,
            error: error.0,
            team: team_id.0,
            lane: lane_id.0,
            since: since.0,
            until: until.0,
        };
        let limit = limit.0.map_or(DEFAULT_LIMIT, Limit::get);
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let summary = dead_jobs::summary(&caller, given.before(None), limit).await?;
        Ok(Json(summary.into()))
    }

    /// Replay dead jobs
    ///
    /// Enqueues dead jobs again: they are due at once, have all their attempts, and get new IDs.
    /// One request looks at no more than `limit` dead jobs, those that have been dead longest
    /// first, in one transaction. To go on, send the same request with the `next_cursor` of the
    /// answer, until that is `null`. Jobs that die again in the meantime are not replayed again.
    /// Give at least one condition, or `"all": true`. A replay is recorded in the audit log. Only
    /// operators can replay dead jobs.
    #[oai(
        path = "/dead-jobs/replay",
        method = "post",
        operation_id = "replayDeadJobs"
    )]
    async fn replay_dead_jobs(
        &self,
        caller: Caller,
        request: JsonBody<NewDeadJobReplay>,
    ) -> Result<Json<DeadJobReplay>, Refusal> {
        let wanted = request.value.wanted();
        let filter = wanted.filter();
        let mut replay = dead_jobs::begin_replay(&caller, filter).await?;
        // Only those who may replay are told of mistakes.
        wanted.check().map_err(Refused::fields)?;
        let batch = dead_jobs::replay(&caller, &mut replay, wanted.limit).await?;
        Ok(Json(DeadJobReplay::of(&replay, &batch)))
    }
}

/// A job that does not run again unless it is replayed.
#[derive(Serialize, Schema)]
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
    #[schema(nullable)]
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
#[derive(Serialize, Schema)]
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
#[derive(Serialize, Schema)]
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

pub(super) fn descriptions() -> Vec<Operation> {
    let error = "the provider answered 503";
    let job = json!({
        "id": 48_211_907,
        "queue": "analysis",
        "group_id": example_values::TEAM,
        "lane_id": example_values::TEAM,
        "subject_id": example_values::MEDIA,
        "cause": "exhausted",
        "error": error,
        "attempts": 5,
        "max_attempts": 5,
        "created_at": example_values::CREATED_AT,
        "died_at": example_values::CREATED_AT,
    });
    let group = json!({
        "queue": "analysis",
        "cause": "exhausted",
        "error": error,
        "jobs": 99_214,
        "lanes": 41,
        "first_died_at": example_values::CREATED_AT,
        "last_died_at": example_values::CREATED_AT,
    });
    let problems = &[Code::OperatorsOnly];
    vec![
        Operation::new("listDeadJobs", Scope::QueuesRead)
            .problems(problems)
            .answer(example_values::list(&job)),
        Operation::new("getDeadJobSummary", Scope::QueuesRead)
            .problems(problems)
            .answer(json!({
                "at": example_values::CREATED_AT,
                "matching": 100_000,
                "left_out": 786,
                "data": [group],
            })),
        Operation::new("replayDeadJobs", Scope::QueuesWrite)
            .problems(problems)
            .request(json!({ "queue": "analysis", "error": "answered 503", "limit": 1_000 }))
            .answer(json!({
                "replayed": 1_000,
                "next_cursor": "cnBseQAGSbBh0CgAAAZJsGHQJkAAAAAAAt-lMw",
            })),
    ]
}
