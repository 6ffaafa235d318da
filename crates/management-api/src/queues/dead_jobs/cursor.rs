//! Places among dead jobs, as cursors (of the list, and of a replay), and filters of dead jobs.

use std::{fmt, str::FromStr};

use api_common::{
    field::{Described, Time},
    problem::Refusal,
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use poem_openapi::registry::MetaSchema;
use queue::{
    Group, JobId, Lane,
    dead_jobs::{Filter, Place},
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
