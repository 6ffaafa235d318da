//! Which dead jobs: places as cursors (of the list, and of a replay), filters, and the body of a replay.

use std::{fmt, str::FromStr};

use api_common::{Described, Field, Refusal, Schema, Time};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use domain::bounded_integer::BoundedInteger;
use management::FieldProblem;
use poem_openapi::registry::MetaSchema;
use queue::{
    Group, JobId, Lane,
    dead_jobs::{Batch, Filter, Place, Replay},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::queues::parameters::{Cause, ErrorText, QueueKey};

/// A place as 16 bytes: microseconds since 1970, and the id. That is exactly how Postgres stores
/// both.
pub(super) fn as_id(place: Place) -> Uuid {
    let micros = place.died_at.timestamp_micros();
    Uuid::from_u64_pair(micros.cast_unsigned(), place.id.0.cast_unsigned())
}

fn from_id(id: Uuid) -> Option<Place> {
    let (micros, id) = id.as_u64_pair();
    Some(Place {
        died_at: time(micros.cast_signed())?,
        id: JobId(id.cast_signed()),
    })
}

/// A time that Postgres can store: between 1970 and 9999.
fn time(micros: i64) -> Option<DateTime<Utc>> {
    const LATEST: i64 = 253_402_300_799_999_999;
    let within = (0..=LATEST).contains(&micros);
    DateTime::from_timestamp_micros(micros).filter(|_| within)
}

/// The place of a list's cursor.
pub(super) fn place_of(id: Uuid) -> Result<Place, Refusal> {
    let message = "must be the next_cursor of an earlier answer";
    from_id(id).ok_or_else(|| Refusal::invalid_field("cursor", message))
}

/// How far a replay has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ReplayCursor {
    /// Jobs that died before this are replayed: when the replay began, or earlier.
    pub(super) begun: DateTime<Utc>,
    /// Everything up to here was visited.
    pub(super) after: Place,
}

/// The first bytes of these cursors, so that the cursor of a list is none of them.
const TAG: [u8; 4] = *b"rply";

impl fmt::Display for ReplayCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begun = self.begun.timestamp_micros().to_be_bytes();
        let after = as_id(self.after);
        let bytes = [&TAG[..], &begun, after.as_bytes()].concat();
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is not a cursor that Gatehouse made.
#[derive(Debug, thiserror::Error)]
#[error("is not a cursor")]
pub(crate) struct InvalidCursor;

impl FromStr for ReplayCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text);
        let bytes = bytes.map_err(|_| InvalidCursor)?;
        let rest = bytes.strip_prefix(&TAG).ok_or(InvalidCursor)?;
        let (begun, after) = rest.split_first_chunk().ok_or(InvalidCursor)?;
        let after = Uuid::from_slice(after).map_err(|_| InvalidCursor)?;
        Ok(Self {
            begun: time(i64::from_be_bytes(*begun)).ok_or(InvalidCursor)?,
            after: from_id(after).ok_or(InvalidCursor)?,
        })
    }
}

impl TryFrom<String> for ReplayCursor {
    type Error = InvalidCursor;

    fn try_from(text: String) -> Result<Self, InvalidCursor> {
        text.parse()
    }
}

impl From<ReplayCursor> for String {
    fn from(cursor: ReplayCursor) -> Self {
        cursor.to_string()
    }
}

impl Described for ReplayCursor {
    fn expected() -> String {
        "the next_cursor of an earlier answer".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("string")
    }
}

/// The conditions of a request.
pub(super) struct Given {
    pub(super) ids: Option<Vec<JobId>>,
    pub(super) queue: Option<QueueKey>,
    pub(super) cause: Option<Cause>,
    pub(super) error: Option<ErrorText>,
    pub(super) team: Option<Uuid>,
    pub(super) lane: Option<Uuid>,
    pub(super) since: Option<Time>,
    pub(super) until: Option<Time>,
}

impl Given {
    /// Whether there is any condition.
    pub(super) fn is_any(&self) -> bool {
        self.ids.is_some()
            || self.queue.is_some()
            || self.cause.is_some()
            || self.error.is_some()
            || self.team.is_some()
            || self.lane.is_some()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// The jobs that meet all conditions and died before a place.
    pub(super) fn before(&self, place: Option<Place>) -> Filter<'_> {
        let until = self.until.map(beginning_of);
        Filter {
            ids: self.ids.as_deref(),
            queue: self.queue.as_ref().map(QueueKey::as_str),
            group: self.team.map(Group),
            lane: self.lane.map(Lane),
            cause: self.cause.map(|cause| cause.0),
            error: self.error.as_ref().map(ErrorText::as_str),
            after: self.since.map(beginning_of),
            before: until.into_iter().chain(place).min(),
        }
    }
}

/// The place before all jobs that died at a time or later.
fn beginning_of(time: Time) -> Place {
    Place {
        died_at: time.0,
        id: JobId(i64::MIN),
    }
}

/// The number of a job. JSON holds it exactly.
type JobNumber = BoundedInteger<1, 9_007_199_254_740_991>;
/// How many dead jobs one request looks at.
type Visited = BoundedInteger<1, MOST>;

const MOST: i64 = 1_000;
const DEFAULT: u32 = 100;

/// Which dead jobs to enqueue again. A job must meet every given condition.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDeadJobReplay {
    /// Only jobs with these IDs.
    #[schema(nullable, min_items = 1, max_items = 1_000)]
    ids: Option<Vec<Field<JobNumber>>>,
    /// Only jobs of this queue.
    #[schema(nullable)]
    queue: Option<Field<QueueKey>>,
    /// Only jobs that died of this cause.
    #[schema(nullable)]
    cause: Option<Field<Cause>>,
    /// Only jobs with this text in their error.
    #[schema(nullable)]
    error: Option<Field<ErrorText>>,
    /// Only jobs of this team, in all its lanes.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// Only jobs of this lane: an endpoint in `webhooks`, and otherwise a team.
    #[schema(nullable)]
    lane_id: Option<Uuid>,
    /// Only jobs that died at this time or later.
    #[schema(nullable)]
    since: Option<Field<Time>>,
    /// Only jobs that died before this time.
    #[schema(nullable)]
    until: Option<Field<Time>>,
    /// Must be `true` if there is no condition. Then every dead job is replayed.
    #[schema(nullable)]
    all: Option<bool>,
    /// How many dead jobs this request looks at. Without it, 100.
    #[schema(nullable)]
    limit: Option<Field<Visited>>,
    /// Where to continue: the `next_cursor` of the answer to the same request.
    #[schema(nullable)]
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
#[derive(Serialize, Schema)]
pub(crate) struct DeadJobReplay {
    /// How many jobs were enqueued again. It can be 0 before the end, if none of the jobs that were
    /// looked at met all conditions.
    replayed: i64,
    /// Send it as `cursor`, with the same conditions, to go on. `null` if nothing is left to look
    /// at.
    #[schema(nullable)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written_and_nothing_else_is() {
        let at = |micros| DateTime::from_timestamp_micros(micros).unwrap();
        let after = Place {
            died_at: at(1_769_860_800_123_456),
            id: JobId(i64::MAX),
        };
        assert_eq!(from_id(as_id(after)), Some(after));
        let cursor = ReplayCursor {
            begun: at(1_769_860_801_000_001),
            after,
        };
        assert_eq!(cursor.to_string().parse::<ReplayCursor>().unwrap(), cursor);
        for id in [Uuid::max(), Uuid::from_u64_pair(1 << 62, 1)] {
            assert!(place_of(id).is_err(), "{id}");
        }
        let list = BASE64_URL_SAFE_NO_PAD.encode([7; 28]);
        let beyond = BASE64_URL_SAFE_NO_PAD.encode([&TAG[..], &[0x7f; 24]].concat());
        for text in ["", "x", "AAAA", "cnBseQ", &list, &beyond] {
            assert!(text.parse::<ReplayCursor>().is_err(), "{text:?}");
        }
    }
}
