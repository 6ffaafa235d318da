//! A replay of dead jobs, as a request and its answer.

use api_common::field::{Field, Time};
use domain::bounded_integer::BoundedInteger;
use management::FieldProblem;
use poem_openapi::Object;
use queue::{
    JobId,
    dead_jobs::{Batch, Filter, Place, Replay},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::cursor::{Given, ReplayCursor};
use crate::queues::parameters::{Cause, ErrorText, QueueKey};

/// The number of a job. JSON holds it exactly.
type JobNumber = BoundedInteger<1, 9_007_199_254_740_991>;
/// How many dead jobs one request looks at.
type Visited = BoundedInteger<1, MOST>;

const MOST: i64 = 1_000;
const DEFAULT: u32 = 100;

/// Which dead jobs to enqueue again. A job must meet every given condition.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDeadJobReplay {
    /// Only jobs with these IDs.
    #[oai(nullable, validator(min_items = 1, max_items = 1_000))]
    ids: Option<Vec<Field<JobNumber>>>,
    /// Only jobs of this queue.
    #[oai(nullable)]
    queue: Option<Field<QueueKey>>,
    /// Only jobs that died of this cause.
    #[oai(nullable)]
    cause: Option<Field<Cause>>,
    /// Only jobs with this text in their error.
    #[oai(nullable)]
    error: Option<Field<ErrorText>>,
    /// Only jobs of this team, in all its lanes.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// Only jobs of this lane: an endpoint in `webhooks`, and otherwise a team.
    #[oai(nullable)]
    lane_id: Option<Uuid>,
    /// Only jobs that died at this time or later.
    #[oai(nullable)]
    since: Option<Field<Time>>,
    /// Only jobs that died before this time.
    #[oai(nullable)]
    until: Option<Field<Time>>,
    /// Must be `true` if there is no condition. Then every dead job is replayed.
    #[oai(nullable)]
    all: Option<bool>,
    /// How many dead jobs this request looks at. Without it, 100.
    #[oai(nullable)]
    limit: Option<Field<Visited>>,
    /// Where to continue: the `next_cursor` of the answer to the same request.
    #[oai(nullable)]
    cursor: Option<Field<ReplayCursor>>,
}

impl NewDeadJobReplay {
    pub(super) fn wanted(self) -> Wanted {
        let ids = self.ids.map(|ids| {
            let ids = ids.into_iter().map(|id| JobId(id.get()));
            ids.collect()
        });
        let limit = self.limit.map(|limit| u32::try_from(limit.get()));
        Wanted {
            given: Given {
                ids,
                queue: self.queue.map(|queue| queue.0),
                cause: self.cause.map(|cause| cause.0),
                error: self.error.map(|error| error.0),
                team: self.team_id,
                lane: self.lane_id,
                since: self.since.map(|since| since.0),
                until: self.until.map(|until| until.0),
            },
            all: self.all == Some(true),
            limit: limit.and_then(Result::ok).unwrap_or(DEFAULT),
            cursor: self.cursor.map(|cursor| cursor.0),
        }
    }
}

/// One step of a replay.
pub(super) struct Wanted {
    given: Given,
    all: bool,
    pub(super) limit: u32,
    cursor: Option<ReplayCursor>,
}

impl Wanted {
    /// The jobs that the replay has still to visit.
    pub(super) fn filter(&self) -> Filter<'_> {
        let begun = self.cursor.map(|cursor| Place {
            died_at: cursor.begun,
            id: JobId(i64::MAX),
        });
        let filter = self.given.before(begun);
        Filter {
            after: filter.after.max(self.cursor.map(|cursor| cursor.after)),
            ..filter
        }
    }

    /// What is wrong with the request.
    pub(super) fn check(&self) -> Result<(), Vec<FieldProblem>> {
        let problem = |field: &str, message: &str| {
            Err(vec![FieldProblem {
                field: field.to_owned(),
                message: message.to_owned(),
                position: None,
            }])
        };
        let ids = self.given.ids.as_ref().map(Vec::len);
        match ids {
            Some(0) => problem("ids", "must not be empty"),
            Some(1_001..) => problem("ids", "can have 1000 IDs at most"),
            Some(_) | None if self.given.is_any() == self.all => problem(
                "all",
                "must be true if there is no other condition, and only then",
            ),
            Some(_) | None => Ok(()),
        }
    }
}

/// What one step of a replay did.
#[derive(Serialize, Object)]
pub(crate) struct DeadJobReplay {
    /// How many jobs were enqueued again. It can be 0 before the end, if none of the jobs that were
    /// looked at met all conditions.
    replayed: i64,
    /// Send it as `cursor`, with the same conditions, to go on. `null` if nothing is left to look
    /// at.
    #[oai(nullable)]
    next_cursor: Option<String>,
}

impl DeadJobReplay {
    pub(super) fn of(replay: &Replay<'_>, batch: &Batch) -> Self {
        let begun = replay.filter().before.map(|place| place.died_at);
        let next = match (begun, replay.place()) {
            (Some(begun), Some(after)) if !batch.is_last => Some(ReplayCursor { begun, after }),
            _ => None,
        };
        Self {
            replayed: i64::try_from(batch.replayed).unwrap_or(i64::MAX),
            next_cursor: next.map(|cursor| cursor.to_string()),
        }
    }
}
