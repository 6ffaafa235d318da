//! Times that people type, in UTC.

use chrono::{DateTime, NaiveDateTime, Utc};

/// What browsers send of a field for a time, with and without seconds.
const FORMATS: [&str; 3] = [
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
];

/// Why a time was not read.
pub(super) const EXPECTED: &str = "must be a time such as 2026-02-03T16:05";

/// A time in UTC.
pub(super) fn read(text: &str) -> Option<DateTime<Utc>> {
    let mut formats = FORMATS.into_iter();
    formats
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .map(|time| time.and_utc())
        .or_else(|| text.parse().ok())
}

/// A time for a field, to the minute.
pub(super) fn field(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%dT%H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_browsers_send_it() {
        let time = read("2026-02-03T16:05").unwrap();
        assert_eq!(field(time), "2026-02-03T16:05");
        assert_eq!(read("2026-02-03T16:05:00"), Some(time));
        assert_eq!(read("2026-02-03T17:05:00+01:00"), Some(time));
        for wrong in ["", "yesterday", "2026-02-30T00:00", "2026-02-03"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
