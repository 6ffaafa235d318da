//! Places among dead jobs, in addresses and forms.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use management::dead_jobs::{JobId, Place};

/// A place: microseconds since 1970 and the job's id, as Postgres stores both.
pub(super) struct Cursor(pub(super) Place);

/// The text is no place.
#[derive(Debug, thiserror::Error)]
#[error("is no place")]
pub(super) struct NoPlace;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.died_at.timestamp_micros(), self.0.id.0)
    }
}

impl FromStr for Cursor {
    type Err = NoPlace;

    fn from_str(text: &str) -> Result<Self, NoPlace> {
        let (micros, id) = text.split_once('.').ok_or(NoPlace)?;
        Ok(Self(Place {
            died_at: time(micros.parse().map_err(|_| NoPlace)?).ok_or(NoPlace)?,
            id: JobId(id.parse().map_err(|_| NoPlace)?),
        }))
    }
}

/// A time that Postgres can store: between 1970 and 9999.
fn time(micros: i64) -> Option<DateTime<Utc>> {
    const LATEST: i64 = 253_402_300_799_999_999;
    let within = (0..=LATEST).contains(&micros);
    DateTime::from_timestamp_micros(micros).filter(|_| within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is() {
        let place = Place {
            died_at: DateTime::from_timestamp_micros(1_769_860_800_123_456).unwrap(),
            id: JobId(i64::MAX),
        };
        let read: Cursor = Cursor(place).to_string().parse().unwrap();
        assert_eq!(read.0, place);
        for text in [
            "",
            "1",
            "x.1",
            "1.x",
            "-1.1",
            "9223372036854775807.1",
            "1.1.1",
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text:?}");
        }
    }
}
