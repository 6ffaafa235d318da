//! Queues, groups, lanes and workers in responses, and changes of their pauses and caps.

use api_common::{Field, Schema, Time, given};
use domain::bounded_integer::BoundedInteger;
use management::{
    Refused,
    queues::{Overview, Pause, QueueDetails as Details, QueueState},
};
use queue::{groups::GroupStats, lanes::LaneStats, workers};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The most workers in an answer.
const MOST_WORKERS: usize = 200;

/// All queues, and the processes that work on them.
#[derive(Serialize, Schema)]
pub(crate) struct Queues {
    /// The time of the database when they were read.
    at: Field<Time>,
    /// The queues. Those of an item's steps come first, in order.
    data: Vec<Queue>,
    /// The live worker processes, the oldest first, at most 200.
    workers: Vec<QueueWorker>,
    /// How many more worker processes are live.
    workers_left_out: i64,
}

impl From<Overview> for Queues {
    fn from(overview: Overview) -> Self {
        let all = overview.workers.len();
        Self {
            at: overview.at.into(),
            data: overview.queues.into_iter().map(Queue::from).collect(),
            workers: overview
                .workers
                .into_iter()
                .take(MOST_WORKERS)
                .map(QueueWorker::from)
                .collect(),
            workers_left_out: i64::try_from(all.saturating_sub(MOST_WORKERS)).unwrap_or(i64::MAX),
        }
    }
}

/// The depth of a queue, and what holds it back.
#[derive(Serialize, Schema)]
pub(crate) struct Queue {
    /// The name of the queue.
    name: String,
    /// Jobs that wait and whose time has come.
    due: i64,
    /// The due jobs that could run now: neither the queue nor their group or lane is paused, and
    /// the caps leave room. More workers help these.
    runnable: i64,
    /// Jobs that wait for their time: delayed jobs and retries.
    scheduled: i64,
    /// Jobs that a worker has claimed, started or not.
    running: i64,
    /// Jobs that will not run again unless you replay them.
    dead: i64,
    /// How long the oldest due job has been due, in seconds. 0 if no job is due.
    oldest_due_seconds: f64,
    /// Whether the whole queue is paused.
    paused: bool,
    /// When the pause ends. `null` if the queue is not paused, or is paused until you resume it.
    #[schema(nullable)]
    paused_until: Option<Field<Time>>,
    /// How many of its groups are paused.
    paused_groups: i64,
    /// How many of its groups have a cap.
    capped_groups: i64,
    /// How many of its lanes are paused.
    paused_lanes: i64,
    /// How many of its lanes have a cap of their own.
    capped_lanes: i64,
    /// How many jobs of a lane can run at once, over all processes, if the lane has no cap of its
    /// own. `null` means no limit.
    #[schema(nullable)]
    lane_cap: Option<i64>,
}

impl From<QueueState> for Queue {
    fn from(state: QueueState) -> Self {
        let QueueState {
            stats,
            restrictions,
            lane_cap,
        } = state;
        Self {
            name: stats.queue,
            due: stats.due,
            runnable: stats.runnable,
            scheduled: stats.scheduled,
            running: stats.running,
            dead: stats.dead,
            oldest_due_seconds: stats.oldest_due_seconds,
            paused: restrictions.is_paused,
            paused_until: restrictions.paused_until.map(Field::from),
            paused_groups: restrictions.paused_groups,
            capped_groups: restrictions.capped_groups,
            paused_lanes: restrictions.paused_lanes,
            capped_lanes: restrictions.capped_lanes,
            lane_cap: lane_cap.map(i64::from),
        }
    }
}

/// A queue with its busiest groups and lanes.
#[derive(Serialize, Schema)]
pub(crate) struct QueueDetails {
    /// The time of the database when they were read.
    at: Field<Time>,
    /// The queue.
    queue: Queue,
    /// The groups that have due or running jobs, a pause or a cap: those with the most due jobs
    /// first, at most `limit`.
    groups: Vec<QueueGroup>,
    /// How many such groups were left out.
    groups_left_out: i64,
    /// The lanes that have due or running jobs, a pause or a cap: those with the most due jobs
    /// first, at most `limit`.
    lanes: Vec<QueueLane>,
    /// How many such lanes were left out.
    lanes_left_out: i64,
}

impl From<Details> for QueueDetails {
    fn from(details: Details) -> Self {
        let left_out = |all: i64, shown: usize| all - i64::try_from(shown).unwrap_or(all);
        Self {
            at: details.at.into(),
            queue: details.queue.into(),
            groups_left_out: left_out(details.all_groups, details.groups.len()),
            groups: details.groups.into_iter().map(QueueGroup::from).collect(),
            lanes_left_out: left_out(details.all_lanes, details.lanes.len()),
            lanes: details.lanes.into_iter().map(QueueLane::from).collect(),
        }
    }
}

/// A group of a queue: a team, with all its lanes.
#[derive(Serialize, Schema)]
pub(crate) struct QueueGroup {
    /// The name of the queue.
    queue: String,
    /// The ID of the group: the ID of the team. Jobs of a hash list that all teams share have the
    /// ID of the list.
    group_id: Uuid,
    /// Jobs that wait and whose time has come.
    due: i64,
    /// Jobs that a worker has claimed, started or not.
    running: i64,
    /// How many jobs of the group can run at once, over all processes. `null` means no limit.
    #[schema(nullable)]
    cap: Option<i64>,
    /// Whether the group is paused in this queue.
    paused: bool,
    /// When the pause ends. `null` if the group is not paused, or is paused until you resume it.
    #[schema(nullable)]
    paused_until: Option<Field<Time>>,
}

impl From<GroupStats> for QueueGroup {
    fn from(group: GroupStats) -> Self {
        Self {
            queue: group.queue,
            group_id: group.group.0,
            due: group.due,
            running: group.running,
            cap: group.cap.map(i64::from),
            paused: group.is_paused,
            paused_until: group.paused_until.map(Field::from),
        }
    }
}

/// A lane of a queue. Pauses of an endpoint that keeps failing, or that limits its requests, are
/// pauses of its lane.
#[derive(Serialize, Schema)]
pub(crate) struct QueueLane {
    /// The name of the queue.
    queue: String,
    /// The ID of the lane: the ID of the endpoint in `webhooks`, and the ID of the team in the other queues. Jobs of
    /// a hash list that all teams share have the ID of the list.
    lane_id: Uuid,
    /// Jobs that wait and whose time has come.
    due: i64,
    /// Jobs that a worker has claimed, started or not.
    running: i64,
    /// How many jobs of the lane can run at once, over all processes. `null` means the `lane_cap` of
    /// the queue.
    #[schema(nullable)]
    cap: Option<i64>,
    /// Whether the lane is paused.
    paused: bool,
    /// When the pause ends. `null` if the lane is not paused, or is paused until you resume it.
    #[schema(nullable)]
    paused_until: Option<Field<Time>>,
}

impl From<LaneStats> for QueueLane {
    fn from(lane: LaneStats) -> Self {
        Self {
            queue: lane.queue,
            lane_id: lane.lane.0,
            due: lane.due,
            running: lane.running,
            cap: lane.cap.map(i64::from),
            paused: lane.is_paused,
            paused_until: lane.paused_until.map(Field::from),
        }
    }
}

/// A live worker process.
#[derive(Serialize, Schema)]
pub(crate) struct QueueWorker {
    /// The ID of the process. It is new at every start.
    id: Uuid,
    /// The machine, the container or the pod that it runs on. `null` for a process of an older version.
    #[schema(nullable)]
    host: Option<String>,
    /// Its number on that machine. `null` for a process of an older version.
    #[schema(nullable)]
    pid: Option<i32>,
    /// What it does: `api`, `worker` or `up`. `null` for a process of an older version.
    #[schema(nullable)]
    role: Option<String>,
    /// Where its metrics are. `null` for a process of an older version.
    #[schema(nullable)]
    metrics_address: Option<String>,
    /// The version of its program. `null` for a process of an older version.
    #[schema(nullable)]
    version: Option<String>,
    /// When the process started.
    started_at: Field<Time>,
    /// How long its lease is valid if it is not renewed, in seconds. After that, other processes
    /// take over its jobs.
    lease_left_seconds: f64,
    /// Jobs that it has claimed, started or not.
    running: i64,
}

impl From<workers::Worker> for QueueWorker {
    fn from(worker: workers::Worker) -> Self {
        Self {
            id: worker.id,
            host: worker.process.host,
            pid: worker.process.pid,
            role: worker.process.role,
            metrics_address: worker.process.metrics_address,
            version: worker.process.version,
            started_at: worker.started_at.into(),
            lease_left_seconds: worker.lease_left_seconds,
            running: worker.running,
        }
    }
}

/// How many jobs can run at once.
type Cap = BoundedInteger<1, 2_147_483_647>;

/// Fields of a queue to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct QueueChange {
    /// `true` pauses the whole queue: no more of its jobs start. `false` ends the pause. Pauses of
    /// its groups and lanes stay.
    #[serde(default, deserialize_with = "given")]
    paused: Option<bool>,
    /// When the pause ends. `null` means when you end it. Send it with `"paused": true`. A pause
    /// that already lasts longer stays.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    paused_until: Option<Option<Field<Time>>>,
}

impl QueueChange {
    pub(super) fn pause(&self) -> Result<Option<Pause>, Refused> {
        pause(self.paused, self.paused_until.as_ref())
    }
}

/// Fields of a group or a lane of a queue to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct QueuePartChange {
    /// `true` pauses the group or lane: no more of its jobs start. `false` ends the pause.
    #[serde(default, deserialize_with = "given")]
    paused: Option<bool>,
    /// When the pause ends. `null` means when you end it. Send it with `"paused": true`. A pause
    /// that already lasts longer stays.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    paused_until: Option<Option<Field<Time>>>,
    /// How many of its jobs can run at once, over all processes. `null` restores the default of the
    /// queue.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    cap: Option<Option<Field<Cap>>>,
}

impl QueuePartChange {
    pub(super) fn pause(&self) -> Result<Option<Pause>, Refused> {
        pause(self.paused, self.paused_until.as_ref())
    }

    #[expect(clippy::option_option, reason = "absent and null are two things")]
    pub(super) fn cap(&self) -> Option<Option<u32>> {
        let number = |cap: &Field<Cap>| u32::try_from(cap.get()).unwrap_or(u32::MAX);
        self.cap.as_ref().map(|cap| cap.as_ref().map(number))
    }
}

fn pause(
    paused: Option<bool>,
    until: Option<&Option<Field<Time>>>,
) -> Result<Option<Pause>, Refused> {
    match (paused, until) {
        (None, None) => Ok(None),
        (Some(true), None | Some(None)) => Ok(Some(Pause::UntilResumed)),
        (Some(true), Some(Some(until))) => Ok(Some(Pause::Until(until.0.0))),
        (Some(false), None | Some(None)) => Ok(Some(Pause::End)),
        (None, Some(_)) | (Some(false), Some(Some(_))) => Err(Refused::field(
            "paused_until",
            "can only be sent with `paused`: true",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pause_has_an_end_only_if_it_begins() {
        let read = |body| serde_json::from_value::<QueueChange>(body).unwrap().pause();
        let end = "2026-01-31T12:00:00Z";
        let time = end.parse::<Time>().unwrap().0;
        for (body, expected) in [
            (json!({}), None),
            (json!({ "paused": true }), Some(Pause::UntilResumed)),
            (
                json!({ "paused": true, "paused_until": null }),
                Some(Pause::UntilResumed),
            ),
            (
                json!({ "paused": true, "paused_until": end }),
                Some(Pause::Until(time)),
            ),
            (json!({ "paused": false }), Some(Pause::End)),
            (
                json!({ "paused": false, "paused_until": null }),
                Some(Pause::End),
            ),
        ] {
            assert_eq!(read(body.clone()).unwrap(), expected, "{body}");
        }
        for body in [
            json!({ "paused_until": end }),
            json!({ "paused_until": null }),
            json!({ "paused": false, "paused_until": end }),
        ] {
            assert!(
                matches!(read(body.clone()), Err(Refused::Fields(_))),
                "{body}"
            );
        }
    }
}
