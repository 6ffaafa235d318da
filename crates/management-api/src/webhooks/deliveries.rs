//! Deliveries: list, read, send again.

use api_common::{Accepted, Code, Field, Json, Path, Query, Refusal, Schema, Time};
use domain::{
    event::EventKind,
    id::{DeliveryId, SiteId},
    scope::Scope,
    webhook::DeliveryStatus,
};
use management::deliveries::{self, SentHeader, headers};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::{Value, json};
use store::delivery::{Delivery, Filter, Listed, LoggedAttempt};
use uuid::Uuid;

use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Deliveries;

#[OpenApi(tag = "Tag::Webhooks")]
impl Deliveries {
    /// List a site's deliveries
    ///
    /// Deliveries of the newest events first, including those to deleted endpoints. One page looks at 5,000 deliveries at
    /// most. With `state`, `event`, `since` or `until` a page may therefore hold fewer than `limit` deliveries, or none,
    /// although more follow: continue as long as there is a `next_cursor`. Deliveries that failed (`state=exhausted` or
    /// `discarded`) and `media_id` are looked up directly. Deliveries are kept for the site's `webhook_retention_days`.
    #[oai(
        path = "/sites/:site_id/deliveries",
        method = "get",
        operation_id = "listDeliveries"
    )]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_deliveries(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// Only deliveries to this endpoint.
        endpoint_id: Query<Uuid>,
        /// Only deliveries in this state.
        state: Query<DeliveryStatus>,
        /// Only deliveries of events of this kind.
        event: Query<EventKind>,
        /// Only deliveries of events about this media item.
        media_id: Query<Uuid>,
        /// Only deliveries of events that happened at this time or later.
        since: Query<Time>,
        /// Only deliveries of events that happened before this time.
        until: Query<Time>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<WebhookDelivery>>, Refusal> {
        let filter = Filter {
            endpoint: endpoint_id.0.map(Into::into),
            status: state.0,
            kind: event.0,
            media: media_id.0.map(Into::into),
            since: since.0.map(|time| time.0),
            until: until.0.map(|time| time.0),
        };
        let part = Part::new(&limit, &cursor);
        let after = part.after().map(DeliveryId::from);
        let limit = part.limit();
        let page = deliveries::list(&caller, site_id.0, &filter, after, limit).await?;
        let next = page.next.map(DeliveryId::as_uuid);
        Ok(Json(part.list_to(page.deliveries, next)))
    }

    /// Read a delivery
    ///
    /// The request, and every attempt to send it with the receiver's answer.
    #[oai(
        path = "/deliveries/:delivery_id",
        method = "get",
        operation_id = "getDelivery"
    )]
    async fn get_delivery(
        &self,
        caller: Caller,
        /// The delivery.
        delivery_id: Path<DeliveryId>,
    ) -> Result<Json<WebhookDeliveryItem>, Refusal> {
        let delivery = deliveries::get(&caller, delivery_id.0).await?;
        Ok(Json(delivery.into()))
    }

    /// Send a delivery again
    ///
    /// Sends a delivery that has ended, whether or not it succeeded. The first attempt is made at once. If it fails, a
    /// whole new schedule of attempts follows. The id and the body stay the same, so that receivers recognise it. The
    /// attempts are counted on from where they were.
    #[oai(
        path = "/deliveries/:delivery_id/resend",
        method = "post",
        operation_id = "resendDelivery"
    )]
    async fn resend_delivery(
        &self,
        caller: Caller,
        /// The delivery.
        delivery_id: Path<DeliveryId>,
    ) -> Result<Accepted<WebhookDeliveryItem>, Refusal> {
        let delivery = deliveries::resend(&caller, delivery_id.0).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/deliveries/{}", delivery_id.0),
            delivery,
        ))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("listDeliveries", Scope::WebhooksRead)
            .answer(example_values::list(&listed_example())),
        Operation::new("getDelivery", Scope::WebhooksRead).answer(example()),
        Operation::new("resendDelivery", Scope::WebhooksWrite)
            .problems(&[
                Code::DeliveryPending,
                Code::EndpointDisabled,
                Code::LimitReached,
            ])
            .answer(example()),
    ]
}

/// An event's delivery to an endpoint.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookDelivery {
    /// The delivery's id: the `X-Service-Delivery-ID` of its attempts.
    id: Uuid,
    /// The event: the `webhook-id` of all its deliveries.
    event_id: Uuid,
    /// The event's kind, such as `media.created`. More kinds may be added.
    event: String,
    /// When the event happened.
    occurred_at: Field<Time>,
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
    #[schema(nullable)]
    next_attempt_at: Option<Field<Time>>,
    /// When it ended. `null` while it is pending.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
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
            next_attempt_at: listed.next_attempt_at.map(Field::from),
            ended_at: listed.ended_at.map(Field::from),
        }
    }
}

/// A delivery with its request and its attempts.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookDeliveryItem {
    /// The site.
    site_id: Uuid,
    /// The delivery as lists show it.
    #[serde(flatten)]
    listed: WebhookDelivery,
    /// The request that every attempt sends.
    request: DeliveryRequest,
    /// The last 50 attempts, newest first.
    log: Vec<DeliveryAttempt>,
}

impl From<Delivery> for WebhookDeliveryItem {
    fn from(delivery: Delivery) -> Self {
        let headers = headers(&delivery).into_iter().map(DeliveryHeader::from);
        Self {
            site_id: delivery.site.as_uuid(),
            listed: delivery.listed.into(),
            request: DeliveryRequest {
                headers: headers.collect(),
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

/// The request that every attempt of a delivery sends.
#[derive(Serialize, Schema)]
struct DeliveryRequest {
    /// Its headers, including the endpoint's own headers as they are now.
    headers: Vec<DeliveryHeader>,
    /// The raw body, byte for byte.
    body: String,
}

/// A header of a delivery's attempts.
#[derive(Serialize, Schema)]
struct DeliveryHeader {
    /// Its name, in lower case.
    name: String,
    /// Its value. `null` if each attempt has its own, and for the endpoint's own headers, whose values are never shown.
    #[schema(nullable)]
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
#[derive(Serialize, Schema)]
struct DeliveryAttempt {
    /// Its number. Attempts count from 1 and continue when the delivery is sent again.
    number: i16,
    /// When it began.
    started_at: Field<Time>,
    /// How long it took, in milliseconds.
    duration_ms: i32,
    /// The URL it was sent to. `null` if it was not recorded.
    #[schema(nullable)]
    url: Option<String>,
    /// How it ended: `delivered` (any 2xx), `gone` (410) or `status` (any other status). Without an answer: `timeout`,
    /// `connect`, `tls`, `protocol` or `refused` (the address is not permitted). More values may be added.
    outcome: String,
    /// The answer's HTTP status. `null` if there was no answer.
    #[schema(nullable)]
    status_code: Option<i16>,
    /// The first 2 KiB of the answer to a failed attempt, as text. It is kept for a delivery's last three attempts. `null`
    /// for a success, for an older attempt, and if there was no answer.
    #[schema(nullable)]
    response_body: Option<String>,
    /// Why there was no answer. `null` if there was one.
    #[schema(nullable)]
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn listed_example() -> Value {
    json!({
        "id": example_values::DELIVERY,
        "event_id": example_values::EVENT,
        "event": EventKind::MediaCreated,
        "occurred_at": example_values::CREATED_AT,
        "media_id": example_values::MEDIA,
        "endpoint_id": example_values::ENDPOINT,
        "state": "exhausted",
        "attempts": 12,
        "next_attempt_at": null,
        "ended_at": "2026-02-02T11:36:00.123456Z",
    })
}

pub(crate) fn example() -> Value {
    let mut item = json!({ "site_id": example_values::SITE });
    api_common::openapi::extend(&mut item, "", listed_example());
    let body = json!({
        "event": EventKind::MediaCreated,
        "timestamp": example_values::CREATED_AT,
        "data": {
            "media_id": example_values::MEDIA,
            "site_id": example_values::SITE,
            "status": "pending",
            "content_type": "text",
            "created_at": example_values::CREATED_AT,
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
    api_common::openapi::extend(&mut item, "", rest);
    item
}
