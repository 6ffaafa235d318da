//! When a failed delivery is tried again.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// Attempts of one delivery before it is exhausted.
pub const MAX_ATTEMPTS: u16 = 12;

pub(super) const FIRST_WAIT: Duration = Duration::from_secs(5);
pub(super) const LONGEST_WAIT: Duration = Duration::from_hours(10);
pub(super) const JITTER: f64 = 0.2;

/// How long to wait after failed attempt number `attempt` (counted from 1); `None` if that was the
/// last one.
///
/// The wait is 5 s · 4^(attempt - 1), capped at 10 h, then spread by ±20 % with `chance` (0 up to
/// 1, uniform): about 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h, then 10 h four times; together
/// about 47.6 h. A receiver's `retry_after`, of at most 10 h, can only lengthen a wait.
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
/// It counts only on 429 and 503. A value in another form is ignored, and so is a date in the past.
pub fn retry_after(status: u16, value: &str, now: DateTime<Utc>) -> Option<Duration> {
    if !matches!(status, 429 | 503) {
        return None;
    }
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number beyond 64 bits fails to parse here. The cap turns it into 10 h, like any
        // other long wait.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date: DateTime<Utc> = httpdate::parse_http_date(value).ok()?.into();
    (date - now).to_std().ok()
}
