//! The job queues, for operators: depth, pauses, caps, workers, and dead jobs.

mod dead_jobs;
mod parameters;
mod schemas;

use api_common::{Code, Json, JsonBody, Path, Query, Refusal};
use domain::scope::Scope;
use management::queues;
use poem_openapi::OpenApi;
use queue::{Group, Lane};
use serde_json::json;
use uuid::Uuid;

use self::{
    parameters::QueueKey,
    schemas::{Queue, QueueChange, QueueDetails, QueueGroup, QueueLane, QueuePartChange},
};
use super::{Caller, DEFAULT_LIMIT, Limit, Operation, Tag, example_values};

/// The operations, noun by noun.
pub(super) type Nouns = (Queues, dead_jobs::DeadJobs);

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    [queue_descriptions(), dead_jobs::descriptions()].concat()
}

#[derive(Default)]
pub(crate) struct Queues;

#[OpenApi(tag = "Tag::Queues")]
impl Queues {
    /// List queues
    ///
    /// Returns every queue with its depth and what holds it back, and the live worker processes.
    /// Takes time in proportion to the jobs, up to a second for a million, so read it every ten
    /// seconds at most. Only operators can read queues.
    #[oai(path = "/queues", method = "get", operation_id = "listQueues")]
    async fn list_queues(&self, caller: Caller) -> Result<Json<schemas::Queues>, Refusal> {
        let overview = queues::list(&caller).await?;
        Ok(Json(overview.into()))
    }

    /// Read a queue
    ///
    /// Returns the queue with its busiest groups and lanes. Only operators can read queues.
    #[oai(path = "/queues/:queue", method = "get", operation_id = "getQueue")]
    async fn get_queue(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        /// The most groups, and the most lanes.
        limit: Query<Limit>,
    ) -> Result<Json<QueueDetails>, Refusal> {
        let limit = limit.0.map_or(DEFAULT_LIMIT, Limit::get);
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let details = queues::get(&caller, queue.0.as_str(), limit).await?;
        Ok(Json(details.into()))
    }

    /// Pause or resume a queue
    ///
    /// While a queue is paused, none of its jobs start. Running jobs continue, and so do the jobs
    /// that a worker has already claimed. Waiting jobs lose no attempt. All processes obey within
    /// half a second. You can send the same change again. A change is recorded in the audit log.
    /// Only operators can change queues.
    #[oai(
        path = "/queues/:queue",
        method = "patch",
        operation_id = "updateQueue"
    )]
    async fn update_queue(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        request: JsonBody<QueueChange>,
    ) -> Result<Json<Queue>, Refusal> {
        let pause = || request.value.pause();
        let updated = queues::update_queue(&caller, queue.0.as_str(), pause).await?;
        Ok(Json(updated.now.into()))
    }

    /// Read a group of a queue
    ///
    /// A group is a team, with all its lanes. Any ID is a group: without jobs, pause and cap, it is
    /// empty. Only operators can read queues.
    #[oai(
        path = "/queues/:queue/groups/:group_id",
        method = "get",
        operation_id = "getQueueGroup"
    )]
    async fn get_queue_group(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        /// The ID of the group: the ID of the team.
        group_id: Path<Uuid>,
    ) -> Result<Json<QueueGroup>, Refusal> {
        let group = Group(group_id.0);
        let found = queues::get_group(&caller, queue.0.as_str(), group).await?;
        Ok(Json(found.into()))
    }

    /// Pause, resume or cap a group of a queue
    ///
    /// Works as for a queue. A cap limits how many jobs of the group run at once, over all
    /// processes. Each claim that meets a capped group counts the running jobs of the queue, so cap
    /// only few groups. Only operators can change queues.
    #[oai(
        path = "/queues/:queue/groups/:group_id",
        method = "patch",
        operation_id = "updateQueueGroup"
    )]
    async fn update_queue_group(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        /// The ID of the group: the ID of the team.
        group_id: Path<Uuid>,
        request: JsonBody<QueuePartChange>,
    ) -> Result<Json<QueueGroup>, Refusal> {
        let (group, cap) = (Group(group_id.0), request.value.cap());
        let pause = || request.value.pause();
        let name = queue.0.as_str();
        let updated = queues::update_group(&caller, name, group, pause, cap).await?;
        Ok(Json(updated.now.into()))
    }

    /// Read a lane of a queue
    ///
    /// A lane is an endpoint in `webhooks`, and otherwise a team. Any ID is a lane: without jobs,
    /// pause and cap, it is empty. Only operators can read queues.
    #[oai(
        path = "/queues/:queue/lanes/:lane_id",
        method = "get",
        operation_id = "getQueueLane"
    )]
    async fn get_queue_lane(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        /// The ID of the lane: the ID of the endpoint or the team.
        lane_id: Path<Uuid>,
    ) -> Result<Json<QueueLane>, Refusal> {
        let lane = Lane(lane_id.0);
        let found = queues::get_lane(&caller, queue.0.as_str(), lane).await?;
        Ok(Json(found.into()))
    }

    /// Pause, resume or cap a lane of a queue
    ///
    /// Works as for a group. To end a pause of an endpoint's lane also ends the pause that
    /// Gatehouse set because the endpoint keeps failing. Only operators can change queues.
    #[oai(
        path = "/queues/:queue/lanes/:lane_id",
        method = "patch",
        operation_id = "updateQueueLane"
    )]
    async fn update_queue_lane(
        &self,
        caller: Caller,
        /// The name of the queue.
        queue: Path<QueueKey>,
        /// The ID of the lane: the ID of the endpoint or the team.
        lane_id: Path<Uuid>,
        request: JsonBody<QueuePartChange>,
    ) -> Result<Json<QueueLane>, Refusal> {
        let (lane, cap) = (Lane(lane_id.0), request.value.cap());
        let pause = || request.value.pause();
        let name = queue.0.as_str();
        let updated = queues::update_lane(&caller, name, lane, pause, cap).await?;
        Ok(Json(updated.now.into()))
    }
}

/// What the document says of the operations on queues.
fn queue_descriptions() -> Vec<Operation> {
    let queue = json!({
        "name": "webhooks",
        "due": 4_468,
        "runnable": 64,
        "scheduled": 500,
        "running": 32,
        "dead": 3,
        "oldest_due_seconds": 192.4,
        "paused": false,
        "paused_until": null,
        "paused_groups": 0,
        "capped_groups": 1,
        "paused_lanes": 1,
        "capped_lanes": 0,
        "lane_cap": 32,
    });
    let group = json!({
        "queue": "webhooks",
        "group_id": example_values::TEAM,
        "due": 1_584,
        "running": 16,
        "cap": 16,
        "paused": false,
        "paused_until": null,
    });
    let lane = json!({
        "queue": "webhooks",
        "lane_id": example_values::ENDPOINT,
        "due": 1_584,
        "running": 0,
        "cap": null,
        "paused": true,
        "paused_until": example_values::CREATED_AT,
    });
    let worker = json!({
        "id": "01980f6d-51aa-7bbb-8ccc-0123456789ab",
        "host": "gatehouse-worker-7d9c5b6f4-x2v8k",
        "pid": 1,
        "role": "worker",
        "metrics_address": "0.0.0.0:9464",
        "version": "0.1.0",
        "started_at": example_values::CREATED_AT,
        "lease_left_seconds": 27.1,
        "running": 32,
    });
    let reads = |id| Operation::new(id, Scope::QueuesRead).problems(&[Code::OperatorsOnly]);
    let changes = |id| Operation::new(id, Scope::QueuesWrite).problems(&[Code::OperatorsOnly]);
    vec![
        reads("listQueues").answer(json!({
            "at": example_values::CREATED_AT,
            "data": [queue],
            "workers": [worker],
            "workers_left_out": 0,
        })),
        reads("getQueue").answer(json!({
            "at": example_values::CREATED_AT,
            "queue": queue,
            "groups": [group],
            "groups_left_out": 3,
            "lanes": [lane],
            "lanes_left_out": 71,
        })),
        changes("updateQueue")
            .request(json!({ "paused": true }))
            .answer(queue),
        reads("getQueueGroup").answer(group.clone()),
        changes("updateQueueGroup")
            .request(json!({ "cap": 16 }))
            .answer(group),
        reads("getQueueLane").answer(lane.clone()),
        changes("updateQueueLane")
            .request(json!({ "paused": true, "cap": null }))
            .answer(lane),
    ]
}
