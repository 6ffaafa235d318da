//! An attempt or a test, in words. Answers come from strangers: they are cut, and shown as text.

use chrono::{DateTime, Utc};
use domain::id::DeliveryId;
use management::{
    deliveries::{Latest, LoggedAttempt},
    endpoints::Pinged,
};

/// How a request to an endpoint ended.
pub(super) struct Shown {
    pub(super) number: i16,
    /// The delivery, where it is not clear from the page.
    pub(super) delivery: Option<DeliveryId>,
    pub(super) at: Option<DateTime<Utc>>,
    pub(super) took: String,
    pub(super) is_delivered: bool,
    /// How it ended: a sentence without its end.
    pub(super) result: String,
    /// Where it went.
    pub(super) url: Option<String>,
    /// The beginning of the answer.
    pub(super) answer: Option<String>,
    /// Why there was no answer.
    pub(super) error: Option<String>,
}

impl From<LoggedAttempt> for Shown {
    fn from(attempt: LoggedAttempt) -> Self {
        let status = attempt
            .status_code
            .and_then(|code| u16::try_from(code).ok());
        let ms = u128::try_from(attempt.duration_ms).unwrap_or(0);
        Self {
            number: attempt.number,
            delivery: None,
            at: Some(attempt.started_at),
            took: took(ms),
            is_delivered: attempt.outcome == DELIVERED,
            result: result(&attempt.outcome, status),
            url: attempt.url,
            answer: attempt.response_body.as_deref().map(text),
            error: attempt.error,
        }
    }
}

impl From<Latest> for Shown {
    fn from(latest: Latest) -> Self {
        Self {
            delivery: Some(latest.delivery),
            ..latest.attempt.into()
        }
    }
}

impl From<Pinged> for Shown {
    fn from(pinged: Pinged) -> Self {
        Self {
            number: 1,
            delivery: None,
            at: None,
            took: took(pinged.elapsed.as_millis()),
            is_delivered: pinged.outcome == DELIVERED,
            result: result(pinged.outcome, pinged.status_code),
            url: None,
            answer: pinged.response_body.as_deref().map(text),
            error: pinged.error,
        }
    }
}

/// The outcome of a success.
const DELIVERED: &str = "delivered";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn took(ms: u128) -> String {
    if ms < 10_000 {
        format!("{ms} ms")
    } else {
        format!("{} s", ms / 1_000)
    }
}

fn result(outcome: &str, status: Option<u16>) -> String {
    match (status, outcome) {
        (Some(410), _) => "It answered 410 Gone: it wants nothing more".to_owned(),
        (Some(status), _) => format!("It answered {status}"),
        (None, "timeout") => "No answer within the time".to_owned(),
        (None, "connect") => "No connection".to_owned(),
        (None, "tls") => "No secure connection (TLS)".to_owned(),
        (None, "protocol") => "What it answered is not HTTP".to_owned(),
        (None, "refused") => "The address is not permitted".to_owned(),
        (None, other) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_told_in_words() {
        assert_eq!(result("status", Some(500)), "It answered 500");
        assert_eq!(result("timeout", None), "No answer within the time");
        assert_eq!(result("later_kind", None), "later_kind");
        assert_eq!(took(9_999), "9999 ms");
        assert_eq!(took(15_020), "15 s");
    }
}
