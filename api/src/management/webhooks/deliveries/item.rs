//! A delivery as it is shown: in a list, and with everything about it.

use domain::{
    event::EventKind,
    signature::{SERVICE_SIGNATURE, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP},
};
use poem_openapi::Object;
use serde::Serialize;
use serde_json::{Value, json};
use store::delivery::{Delivery, Listed, LoggedAttempt};
use uuid::Uuid;

use crate::{
    management::document::example,
    member::{Member, Time},
};

/// An event's delivery to an endpoint.
#[derive(Serialize, Object)]
pub(crate) struct WebhookDelivery {
    /// The delivery's id: the `X-Service-Delivery-ID` of its attempts.
    id: Uuid,
    /// The event: the `webhook-id` of all its deliveries.
    event_id: Uuid,
    /// The event's kind, such as `media.created`. More kinds may be added.
    event: String,
    /// When the event happened.
    occurred_at: Member<Time>,
    /// The media item it is about.
    media_id: Uuid,
    /// The endpoint.
    endpoint_id: Uuid,
    /// `pending`, `delivered`, `exhausted` (all attempts failed) or `discarded` (its endpoint was disabled or deleted).
    /// More states may be added.
    state: String,
    /// Attempts made so far.
    attempts: i16,
    /// When the next attempt is due. `null` when the delivery has ended.
    #[oai(nullable)]
    next_attempt_at: Option<Member<Time>>,
    /// When it ended. `null` while it is pending.
    #[oai(nullable)]
    ended_at: Option<Member<Time>>,
}

impl From<Listed> for WebhookDelivery {
    fn from(listed: Listed) -> Self {
        Self {
            id: listed.id.as_uuid(),
            event_id: listed.event.as_uuid(),
            event: listed.kind.to_string(),
            occurred_at: listed.occurred_at.into(),
            media_id: listed.media.as_uuid(),
            endpoint_id: listed.endpoint.as_uuid(),
            state: listed.status.to_string(),
            attempts: listed.attempts,
            next_attempt_at: listed.next_attempt_at.map(Member::from),
            ended_at: listed.ended_at.map(Member::from),
        }
    }
}

/// A delivery with its request and its attempts.
#[derive(Serialize, Object)]
pub(crate) struct WebhookDeliveryItem {
    /// The site.
    site_id: Uuid,
    /// The delivery as lists show it.
    #[serde(flatten)]
    #[oai(flatten)]
    listed: WebhookDelivery,
    /// The request that every attempt sends.
    request: DeliveryRequest,
    /// The last 50 attempts, newest first.
    log: Vec<DeliveryAttempt>,
}

/// The request that every attempt of a delivery sends.
#[derive(Serialize, Object)]
struct DeliveryRequest {
    /// Its headers, including the endpoint's own headers as they are now.
    headers: Vec<DeliveryHeader>,
    /// The raw body, byte for byte.
    body: String,
}

/// A header of a delivery's attempts.
#[derive(Serialize, Object)]
struct DeliveryHeader {
    /// Its name, in lower case.
    name: String,
    /// Its value. `null` if each attempt has its own, and for the endpoint's own headers, whose values are never shown.
    #[oai(nullable)]
    value: Option<String>,
}

/// One attempt.
#[derive(Serialize, Object)]
struct DeliveryAttempt {
    /// Its number. Attempts count from 1 and continue when the delivery is sent again.
    number: i16,
    /// When it began.
    started_at: Member<Time>,
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

impl From<Delivery> for WebhookDeliveryItem {
    fn from(delivery: Delivery) -> Self {
        let headers = headers(&delivery);
        Self {
            site_id: delivery.site.as_uuid(),
            listed: delivery.listed.into(),
            request: DeliveryRequest {
                headers,
                body: text(&delivery.body),
            },
            log: delivery
                .attempts
                .into_iter()
                .map(DeliveryAttempt::from)
                .collect(),
        }
    }
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// In outline: signatures are of their attempts, and what the owner's headers hold is shown to nobody.
fn headers(delivery: &Delivery) -> Vec<DeliveryHeader> {
    let listed = &delivery.listed;
    let header = |name: &str, value: Option<String>| DeliveryHeader {
        name: name.to_ascii_lowercase(),
        value,
    };
    let known = [
        ("content-type", Some("application/json".to_owned())),
        ("user-agent", Some("Service-Webhook/1.0".to_owned())),
        ("x-service-event", Some(listed.kind.to_string())),
        ("x-service-delivery-id", Some(listed.id.to_string())),
        (STANDARD_ID, Some(listed.event.to_string())),
        (STANDARD_TIMESTAMP, None),
        (STANDARD_SIGNATURE, None),
        (SERVICE_SIGNATURE, None),
    ];
    let known = known.into_iter().map(|(name, value)| header(name, value));
    let custom = delivery.headers.iter();
    known
        .chain(custom.map(|custom| header(custom.name(), None)))
        .collect()
}

pub(super) fn listed_example() -> Value {
    json!({
        "id": example::DELIVERY,
        "event_id": example::EVENT,
        "event": EventKind::MediaCreated,
        "occurred_at": example::CREATED_AT,
        "media_id": example::MEDIA,
        "endpoint_id": example::ENDPOINT,
        "state": "exhausted",
        "attempts": 12,
        "next_attempt_at": null,
        "ended_at": "2026-02-02T11:36:00.123456Z",
    })
}

pub(super) fn example() -> Value {
    let mut item = json!({ "site_id": example::SITE });
    crate::openapi::extend(&mut item, "", listed_example());
    let body = json!({
        "event": EventKind::MediaCreated,
        "timestamp": example::CREATED_AT,
        "data": {
            "media_id": example::MEDIA,
            "site_id": example::SITE,
            "status": "pending",
            "content_type": "text",
            "created_at": example::CREATED_AT,
        },
    });
    let rest = json!({
        "request": {
            "headers": [
                { "name": "content-type", "value": "application/json" },
                { "name": "x-service-event", "value": EventKind::MediaCreated },
                { "name": "x-service-signature", "value": null },
            ],
            "body": body.to_string(),
        },
        "log": [{
            "number": 12,
            "started_at": "2026-02-02T11:36:00.023456Z",
            "duration_ms": 100,
            "url": "https://example.com/hooks",
            "outcome": "status",
            "status_code": 500,
            "response_body": "Internal Server Error",
            "error": null,
        }],
    });
    crate::openapi::extend(&mut item, "", rest);
    item
}
