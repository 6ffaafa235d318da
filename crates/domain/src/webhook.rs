//! What an endpoint's answer means, when a failed delivery is tried again, and an endpoint's
//! delivery health: a circuit breaker for an endpoint that keeps failing, and when a dead one is disabled.

mod address;
mod headers;
mod retry;
#[cfg(test)]
mod tests;

use std::time::Duration;

use chrono::{DateTime, Utc};

pub use self::{
    address::{EndpointUrl, InvalidEndpointUrl},
    headers::{CustomHeader, InvalidHeader, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES},
    retry::{MAX_ATTEMPTS, next_delay, retry_after},
};
use crate::{
    bounded_integer::BoundedInteger,
    breaker::{Breaker, BreakerSettings, Right},
    media::named_set,
};

/// For how many days events, ended deliveries and their attempts are kept.
pub type WebhookRetentionDays = BoundedInteger<1, 365>;

/// How long before its first use a new secret may be created.
pub const LONGEST_NOTICE: Duration = Duration::from_hours(30 * 24);

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

/// What is kept of an answer's body: nothing of a success, the beginning of a failure's body.
pub fn kept_answer(outcome: Outcome, body: &[u8]) -> Option<Vec<u8>> {
    match outcome {
        Outcome::Delivered => None,
        Outcome::Gone | Outcome::Failed => Some(body[..body.len().min(KEPT_ANSWER_BYTES)].to_vec()),
    }
}

/// How long an endpoint may fail without one success before it is disabled.
pub const DEAD_AFTER: Duration = Duration::from_hours(5 * 24);

/// Ten failures in a row, then 5 s, 10 s, ... up to five minutes. Deliveries that wait in the
/// meantime are not charged an attempt.
pub const BREAKER: BreakerSettings = BreakerSettings {
    failures: 10,
    first: Duration::from_secs(5),
    longest: Duration::from_mins(5),
};

/// The health of an endpoint. An endpoint without a record is well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// Whether it is paused.
    pub breaker: Breaker,
    /// Its first failure since its last success; `None` if its last attempt succeeded.
    pub failing_since: Option<DateTime<Utc>>,
}

impl Health {
    /// Whether there is no problem on record, so that a success changes nothing.
    pub fn is_well(&self) -> bool {
        *self == Self::default()
    }

    /// An attempt succeeded.
    pub fn succeeded(&mut self, right: Right) {
        self.breaker.succeeded(right);
        self.failing_since = None;
    }

    /// An attempt failed; `chance` (0 up to 1, uniform) spreads the breaker's waits.
    pub fn failed(&mut self, right: Right, now: DateTime<Utc>, chance: f64) {
        self.breaker.failed(right, now, chance, &BREAKER);
        self.failing_since.get_or_insert(now);
    }

    /// Whether it has failed for so long that it must be disabled.
    pub fn is_dead(&self, now: DateTime<Utc>) -> bool {
        self.failing_since
            .is_some_and(|since| (now - since).to_std().is_ok_and(|age| age >= DEAD_AFTER))
    }
}
