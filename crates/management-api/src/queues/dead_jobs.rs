//! Dead jobs: list, count by cause, enqueue again.

mod cursor;
mod filter;
mod openapi;
mod replay;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody, field::Time, problem::Refusal, query_parameters::Query, response::Json,
};
use management::{Management, Refused, dead_jobs};
use poem::web::Data;
use poem_openapi::OpenApi;
use uuid::Uuid;

use self::{
    cursor::{as_id, place_of},
    filter::Given,
    replay::{DeadJobReplay, NewDeadJobReplay},
    schemas::{DeadJob, DeadJobSummary},
};
use super::parameters::{Cause, ErrorText, QueueKey};
use crate::{
    Tag,
    caller::Caller,
    list::{After, DEFAULT_LIMIT, Limit, List, Part},
};

pub(super) use openapi::descriptions;

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
        management: Data<&Arc<Management>>,
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
        let jobs = dead_jobs::list(&management, &caller, filter, rows).await?;
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
        management: Data<&Arc<Management>>,
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
        let summary = dead_jobs::summary(&management, &caller, given.before(None), limit).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewDeadJobReplay>,
    ) -> Result<Json<DeadJobReplay>, Refusal> {
        let wanted = request.value.wanted();
        let filter = wanted.filter();
        let mut replay = dead_jobs::begin_replay(&management, &caller, filter).await?;
        // Only those who may replay are told of mistakes.
        wanted.check().map_err(Refused::fields)?;
        let batch = dead_jobs::replay(&management, &caller, &mut replay, wanted.limit).await?;
        Ok(Json(DeadJobReplay::of(&replay, &batch)))
    }
}
