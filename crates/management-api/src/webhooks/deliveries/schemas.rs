//! A delivery in answers: in a list, and with all details.

mod attempt;
mod examples;

use api_common::field::{Field, Time};
use management::deliveries::headers;
use poem_openapi::Object;
use serde::Serialize;
use store::delivery::{Delivery, Listed};
use uuid::Uuid;

use attempt::{DeliveryAttempt, DeliveryHeader, DeliveryRequest, text};

pub(super) use examples::{example, listed_example};

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
    #[oai(nullable)]
    next_attempt_at: Option<Field<Time>>,
    /// When it ended. `null` while it is pending.
    #[oai(nullable)]
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
