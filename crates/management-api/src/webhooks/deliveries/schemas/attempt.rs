//! The request of a delivery, and the attempts to send it.

use api_common::field::{Field, Time};
use management::deliveries::SentHeader;
use poem_openapi::Object;
use serde::Serialize;
use store::delivery::LoggedAttempt;

/// The request that every attempt of a delivery sends.
#[derive(Serialize, Object)]
pub(super) struct DeliveryRequest {
    /// Its headers, including the endpoint's own headers as they are now.
    pub(super) headers: Vec<DeliveryHeader>,
    /// The raw body, byte for byte.
    pub(super) body: String,
}

/// A header of a delivery's attempts.
#[derive(Serialize, Object)]
pub(super) struct DeliveryHeader {
    /// Its name, in lower case.
    name: String,
    /// Its value. `null` if each attempt has its own, and for the endpoint's own headers, whose values are never shown.
    #[oai(nullable)]
    value: Option<String>,
}

impl From<SentHeader> for DeliveryHeader {
    fn from(header: SentHeader) -> Self {
        Self {
            name: header.name,
            value: header.value,
        }
    }
}

/// One attempt.
#[derive(Serialize, Object)]
pub(super) struct DeliveryAttempt {
    /// Its number. Attempts count from 1 and continue when the delivery is sent again.
    number: i16,
    /// When it began.
    started_at: Field<Time>,
    /// How long it took, in milliseconds.
    duration_ms: i32,
    /// The URL it was sent to. `null` if it was not recorded.
    #[oai(nullable)]
    url: Option<String>,
    /// How it ended: `delivered` (any 2xx), `gone` (410) or `status` (any other status). Without an answer: `timeout`,
    /// `connect`, `tls`, `protocol` or `refused` (the address is not permitted). More values may be added.
    outcome: String,
    /// The answer's HTTP status. `null` if there was no answer.
    #[oai(nullable)]
    status_code: Option<i16>,
    /// The first 2 KiB of the answer to a failed attempt, as text. It is kept for a delivery's last three attempts. `null`
    /// for a success, for an older attempt, and if there was no answer.
    #[oai(nullable)]
    response_body: Option<String>,
    /// Why there was no answer. `null` if there was one.
    #[oai(nullable)]
    error: Option<String>,
}

impl From<LoggedAttempt> for DeliveryAttempt {
    fn from(attempt: LoggedAttempt) -> Self {
        Self {
            number: attempt.number,
            started_at: attempt.started_at.into(),
            duration_ms: attempt.duration_ms,
            url: attempt.url,
            outcome: attempt.outcome,
            status_code: attempt.status_code,
            response_body: attempt.response_body.as_deref().map(text),
            error: attempt.error,
        }
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
