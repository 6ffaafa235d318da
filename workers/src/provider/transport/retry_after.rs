//! How long a provider wants no requests, by the headers of its answer.

use std::time::Duration;

use chrono::Utc;
use domain::webhook::retry_after;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

/// The longest pause after one answer.
const LONGEST: Duration = Duration::from_hours(1);

/// The pause that an error asks for, if it does: in milliseconds (OpenAI and Azure), otherwise in
/// seconds, which may have a fraction, or by a date.
pub(super) fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    let milliseconds = ["retry-after-ms", "x-ms-retry-after-ms"]
        .into_iter()
        .find_map(|name| duration_of(value(name)?, 0.001));
    let asked = || {
        let asked = value(RETRY_AFTER.as_str())?;
        retry_after(status.as_u16(), asked, Utc::now()).or_else(|| duration_of(asked, 1.0))
    };
    milliseconds
        .or_else(asked)
        .or_else(|| spent(headers))
        .map(|wait| wait.min(LONGEST))
}

/// A number of units of this many seconds, which may have a fraction.
fn duration_of(text: &str, unit: f64) -> Option<Duration> {
    let text = text.trim();
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = is_number.then(|| text.parse().ok())??;
    Some(Duration::try_from_secs_f64(number * unit).unwrap_or(LONGEST))
}

/// How long no more requests are allowed, by `x-ratelimit-remaining-*` and `x-ratelimit-reset-*`.
/// These are OpenAI's headers, which others use, too.
pub(super) fn spent(headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    ["requests", "tokens"]
        .into_iter()
        .filter(|what| value(&format!("x-ratelimit-remaining-{what}")) == Some("0"))
        .filter_map(|what| duration(value(&format!("x-ratelimit-reset-{what}"))?))
        .max()
        .map(|wait| wait.min(LONGEST))
}

/// Reads `12ms`, `1.5s`, `6m0s`, `1h2m3s`; a number without a unit is seconds.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let unit = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let unit = match unit {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = after;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_times_are_read_in_every_form() {
        for (text, expected) in [
            ("12ms", Some(12)),
            ("1s", Some(1_000)),
            ("1.5s", Some(1_500)),
            ("6m0s", Some(360_000)),
            ("1h2m3s", Some(3_723_000)),
            ("7", Some(7_000)),
            ("", None),
            ("soon", None),
            ("1d", None),
            ("1.2.3s", None),
            ("-1s", None),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(duration(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_an_error_asks_for_is_read_in_every_form() {
        for (name, value, expected) in [
            ("retry-after", "2", Some(2_000)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "1.5", Some(1_500)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e3", None),
            ("retry-after-ms", "250", Some(250)),
            ("x-ms-retry-after-ms", "1200.5", Some(1_200)),
            ("retry-after-ms", "99999999999999999999999", Some(3_600_000)),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            let wait = wait(StatusCode::TOO_MANY_REQUESTS, &headers);
            assert_eq!(
                wait.map(|wait| wait.as_millis()),
                expected,
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn a_limit_is_spent_when_nothing_remains_of_it_and_no_pause_is_longer_than_an_hour() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            pairs.collect::<HeaderMap>()
        };
        let tokens = headers(&[
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "250ms"),
        ]);
        assert_eq!(spent(&tokens), Some(Duration::from_millis(250)));
        let long = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "24h"),
        ]);
        assert_eq!(spent(&long), Some(LONGEST));
        assert_eq!(spent(&HeaderMap::new()), None);
    }
}
