//! Times in requests and answers.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use domain::event;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Described, Field};

/// A time: RFC 3339, any offset when it is read, UTC and microseconds when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub DateTime<Utc>);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&event::timestamp(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl FromStr for Time {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text).map(|time| Self(time.to_utc()))
    }
}

impl From<DateTime<Utc>> for Field<Time> {
    fn from(time: DateTime<Utc>) -> Self {
        Self(Time(time))
    }
}

impl Described for Time {
    fn expected() -> String {
        "a time such as 2026-01-31T12:00:00Z".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "date-time")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_any_offset_and_written_in_utc() {
        let time: Field<Time> = serde_json::from_str(r#""2026-01-31T13:00:00.5+01:00""#).unwrap();
        let written = serde_json::to_string(&time).unwrap();
        assert_eq!(written, r#""2026-01-31T12:00:00.500000Z""#);
        for text in [
            "",
            "2026-01-31",
            "2026-01-31 12:00:00",
            "2026-02-30T00:00:00Z",
            "now",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text:?}");
        }
    }
}
