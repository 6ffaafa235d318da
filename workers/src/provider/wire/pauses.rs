//! For how long a provider wants to be left alone, by the headers of its answer.

use std::time::Duration;

use chrono::Utc;
use domain::webhook::retry_after;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

/// No provider keeps us waiting for longer with one answer.
const LONGEST: Duration = Duration::from_hours(1);

/// How long an error asks us to stay away, if it says so.
pub(super) fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let asked = headers.get(RETRY_AFTER);
    asked
        .and_then(|value| value.to_str().ok())
        .and_then(|value| retry_after(status.as_u16(), value, Utc::now()))
        .or_else(|| spent(headers))
        .map(|wait| wait.min(LONGEST))
}

/// How long nothing more is allowed, by `x-ratelimit-remaining-*` and `x-ratelimit-reset-*`: OpenAI's headers, which others
/// have taken up.
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
