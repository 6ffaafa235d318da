//! What an endpoint's answer means, when a failed delivery is tried again, and an endpoint's
//! delivery health.

mod address;
mod headers;
mod health;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{media::named_set, whole::Whole};

pub use address::{EndpointUrl, InvalidEndpointUrl};
pub use headers::{CustomHeader, InvalidHeader, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES};
pub use health::{BREAKER, DEAD_AFTER, Health};

/// For how many days events, ended deliveries and their attempts are kept.
pub type WebhookRetentionDays = Whole<1, 365>;

/// How long before its first use a new secret may be created.
pub const LONGEST_NOTICE: Duration = Duration::from_hours(30 * 24);

/// Attempts of one delivery before it is exhausted.
pub const MAX_ATTEMPTS: u16 = 12;

/// The whole time an endpoint has for one attempt: connecting, answering and sending its body.
pub const ATTEMPT_DEADLINE: Duration = Duration::from_secs(15);

/// How much of an endpoint's answer is read, in bytes. A short answer is read to its end, so that
/// its connection can be used again.
pub const READ_ANSWER_BYTES: usize = 16 * 1024;

/// How much of a failed attempt's answer is kept, in bytes. Nothing is kept of a success.
pub const KEPT_ANSWER_BYTES: usize = 2 * 1024;

/// For how many attempts of one delivery answers are kept: the last ones.
pub const KEPT_ANSWERS: u16 = 3;

/// How long `media.moderated` waits for the first attempt of the same item's `media.created` to
/// end.
pub const LONGEST_HOLD: Duration = Duration::from_secs(15);

/// How long the previous secret still signs after a rotation.
pub const ROTATION_GRACE: Duration = Duration::from_hours(24);

const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_hours(10);
const JITTER: f64 = 0.2;

named_set! {
    /// The status of a delivery.
    DeliveryStatus {
        /// There will be another attempt.
        Pending = "pending",
        /// The endpoint has received it.
        Delivered = "delivered",
        /// All attempts have failed.
        Exhausted = "exhausted",
        /// Its endpoint was disabled.
        Discarded = "discarded",
    }
}

/// What an HTTP status says about a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Any 2xx: the event has arrived.
    Delivered,
    /// 410: the receiver wants no more events; its endpoint must be disabled.
    Gone,
    /// Anything else, including redirects: try again.
    Failed,
}

impl Outcome {
    /// The word for it in logs of attempts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Gone => "gone",
            Self::Failed => "status",
        }
    }

    /// Reads an HTTP status code.
    pub fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Delivered,
            410 => Self::Gone,
            0..=199 | 300..=409 | 411.. => Self::Failed,
        }
    }
}

/// What is kept of an answer's body: nothing of a success, and the beginning of a failure's.
pub fn kept_answer(outcome: Outcome, body: &[u8]) -> Option<Vec<u8>> {
    match outcome {
        Outcome::Delivered => None,
        Outcome::Gone | Outcome::Failed => Some(body[..body.len().min(KEPT_ANSWER_BYTES)].to_vec()),
    }
}

/// How long to wait after failed attempt number `attempt` (counted from 1), or `None` when that was the last one.
///
/// The wait is 5 s · 4^(attempt - 1), capped at 10 h, then spread by ±20 % with `chance` (0 up to 1, uniform): about 5 s,
/// 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h, then 10 h four times; together about 47.6 h. What the receiver asked for in
/// `retry_after`, at most 10 h, can only lengthen a wait.
pub fn next_delay(attempt: u16, chance: f64, retry_after: Option<Duration>) -> Option<Duration> {
    if attempt >= MAX_ATTEMPTS {
        return None;
    }
    let steps = u32::from(attempt.saturating_sub(1));
    let wait = (FIRST_WAIT * 4_u32.pow(steps)).min(LONGEST_WAIT);
    let spread = 1.0 + JITTER * (2.0 * chance.clamp(0.0, 1.0) - 1.0);
    let asked = retry_after.unwrap_or_default().min(LONGEST_WAIT);
    Some(wait.mul_f64(spread).max(asked))
}

/// What an answer's `Retry-After` asks for: seconds, or an HTTP date compared with `now`.
///
/// It counts only on 429 and 503. A value that is neither form is ignored, and so is a date that has passed.
pub fn retry_after(status: u16, value: &str, now: DateTime<Utc>) -> Option<Duration> {
    if !matches!(status, 429 | 503) {
        return None;
    }
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number beyond 64 bits fails to parse here; the cap makes it 10 h like any other long wait.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date: DateTime<Utc> = httpdate::parse_http_date(value).ok()?.into();
    (date - now).to_std().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn delays(chance: f64) -> Vec<Duration> {
        (1..=MAX_ATTEMPTS)
            .map_while(|attempt| next_delay(attempt, chance, None))
            .collect()
    }

    #[test]
    fn case_38_nothing_is_kept_of_a_success_and_little_of_a_failure() {
        let body = vec![b'a'; READ_ANSWER_BYTES];
        assert!(kept_answer(Outcome::Delivered, &body).is_none());
        for outcome in [Outcome::Gone, Outcome::Failed] {
            let kept = kept_answer(outcome, &body).unwrap();
            assert_eq!(kept, body[..KEPT_ANSWER_BYTES]);
            assert_eq!(kept_answer(outcome, b"short").unwrap(), b"short");
            assert_eq!(kept_answer(outcome, b"").unwrap(), b"");
        }
    }

    #[test]
    fn waits_grow_fourfold_up_to_ten_hours() {
        let seconds: Vec<u64> = delays(0.5).iter().map(Duration::as_secs).collect();
        assert_eq!(
            seconds,
            [
                5, 20, 80, 320, 1280, 5120, 20480, 36000, 36000, 36000, 36000
            ],
            "twelve attempts have eleven waits between them"
        );
        assert_eq!(seconds.iter().sum::<u64>(), 171_305);
    }

    #[test]
    fn chance_spreads_a_wait_by_a_fifth_the_longest_too() {
        assert_eq!(next_delay(1, 0.0, None), Some(Duration::from_secs(4)));
        assert_eq!(next_delay(1, 1.0, None), Some(Duration::from_secs(6)));
        assert_eq!(next_delay(11, 0.0, None), Some(8 * HOUR));
        assert_eq!(next_delay(11, 1.0, None), Some(12 * HOUR));
    }

    #[test]
    fn nothing_follows_the_twelfth_attempt() {
        for attempt in [12, 13, u16::MAX] {
            assert_eq!(next_delay(attempt, 0.5, Some(HOUR)), None);
        }
    }

    #[test]
    fn retry_after_only_lengthens_and_is_capped() {
        let second = Duration::from_secs(1);
        assert_eq!(next_delay(1, 0.5, Some(second)), Some(5 * second));
        assert_eq!(next_delay(1, 0.5, Some(60 * second)), Some(60 * second));
        assert_eq!(next_delay(1, 0.5, Some(720 * HOUR)), Some(10 * HOUR));
        assert_eq!(next_delay(1, 0.5, Some(Duration::MAX)), Some(10 * HOUR));
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = DateTime::parse_from_rfc3339("2026-11-21T01:00:00Z")
            .unwrap()
            .to_utc();
        let seconds = |n| Some(Duration::from_secs(n));
        for (status, value, expected) in [
            (429, "120", seconds(120)),
            (503, " 120 ", seconds(120)),
            (503, "0", seconds(0)),
            (429, "99999999999999999999999", seconds(u64::MAX)),
            (429, "Sat, 21 Nov 2026 01:02:00 GMT", seconds(120)),
            (503, "Saturday, 21-Nov-26 01:02:00 GMT", seconds(120)),
            (503, "Sat Nov 21 01:02:00 2026", seconds(120)),
            (503, "Sat, 21 Nov 2026 00:00:00 GMT", None),
            (429, "", None),
            (429, "soon", None),
            (429, "-5", None),
            (429, "1.5", None),
            (429, "2026-11-21T01:02:00Z", None),
            (500, "120", None),
            (200, "120", None),
        ] {
            assert_eq!(
                retry_after(status, value, now),
                expected,
                "{status} {value}"
            );
        }
    }

    #[test]
    fn statuses_are_classified() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(Outcome::of_status(status), Outcome::Delivered);
        }
        for status in [
            100, 199, 300, 301, 302, 307, 308, 400, 404, 409, 411, 429, 500, 503,
        ] {
            assert_eq!(Outcome::of_status(status), Outcome::Failed);
        }
        assert_eq!(Outcome::of_status(410), Outcome::Gone);
    }
}
