//! The span of time of a report.

use chrono::{DateTime, TimeDelta, Utc};

use crate::Refused;

/// The longest span, and the usual one, in days.
const MOST: i64 = 92;
const USUAL: i64 = 30;

/// The beginning of the year 2200, in seconds since 1970.
const YEAR_2200: i64 = 7_258_118_400;

/// The beginning and the end.
pub(in crate::reviews) fn of(
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(DateTime<Utc>, DateTime<Utc>), Refused> {
    let known = |field, time: DateTime<Utc>| {
        let is_known = (0..YEAR_2200).contains(&time.timestamp());
        let unknown = || Refused::field(field, "must be a time between 1970 and 2200");
        is_known.then_some(time).ok_or_else(unknown)
    };
    let to = known("to", to.unwrap_or(now))?;
    let from = known("from", from.unwrap_or(to - TimeDelta::days(USUAL)))?;
    if from >= to {
        return Err(Refused::field("from", "must be before `to`"));
    }
    if to - from > TimeDelta::days(MOST) {
        let message = format!("must be at most {MOST} days before `to`");
        return Err(Refused::field("from", message));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: Option<&str>, to: Option<&str>) -> Result<String, String> {
        let time = |text: &str| text.parse().unwrap();
        let now = time("2026-03-31T12:34:56Z");
        match of(from.map(time), to.map(time), now) {
            Ok((from, to)) => Ok(format!("{} {}", from.format("%FT%R"), to.format("%FT%R"))),
            Err(Refused::Fields(fields)) => Err(fields.problems[0].field.clone()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn spans_are_bounded_and_the_last_30_days_by_default() {
        for (from, to, expected) in [
            (None, None, Ok("2026-03-01T12:34 2026-03-31T12:34")),
            (
                None,
                Some("2026-03-31T00:00:00Z"),
                Ok("2026-03-01T00:00 2026-03-31T00:00"),
            ),
            (
                Some("2026-01-01T00:00:00Z"),
                Some("2026-04-03T00:00:00Z"),
                Ok("2026-01-01T00:00 2026-04-03T00:00"),
            ),
            (
                Some("2026-01-01T00:00:00Z"),
                Some("2026-04-03T00:00:01Z"),
                Err("from"),
            ),
            (Some("2026-03-31T12:34:56Z"), None, Err("from")),
            (Some("1969-01-01T00:00:00Z"), None, Err("from")),
            (None, Some("9999-12-31T23:59:59Z"), Err("to")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(span(from, to), expected, "{from:?} {to:?}");
        }
    }
}
