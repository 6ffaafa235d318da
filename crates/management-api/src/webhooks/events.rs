//! Events: what happened to a site's items, and which endpoints were subscribed.

use api_common::{Field, Json, Path, Query, Refusal, Schema, Time};
use domain::{
    event::EventKind,
    id::{EventId, SiteId},
    scope::Scope,
};
use management::events;
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::event::{Filter, Listed, Told};
use uuid::Uuid;

use crate::{After, Caller, Limit, List, Operation, Part, Tag, example_values};

/// Something that happened to an item of a site.
#[derive(Serialize, Schema)]
struct WebhookEvent {
    /// The event: the `webhook-id` of all its deliveries.
    id: Uuid,
    /// Its kind, such as `media.created`. More kinds may be added.
    kind: String,
    /// The media item it is about.
    media_id: Uuid,
    /// When it happened.
    occurred_at: Field<Time>,
    /// Its delivery to each subscribed endpoint, newest endpoints first, at most 100. Empty if no endpoint was subscribed:
    /// a recovery of kind `missing` sends it.
    deliveries: Vec<WebhookEventDelivery>,
}

/// An event's delivery to an endpoint, in short.
#[derive(Serialize, Schema)]
struct WebhookEventDelivery {
    /// The delivery's id: the `X-Service-Delivery-ID` of its attempts.
    delivery_id: Uuid,
    /// The endpoint.
    endpoint_id: Uuid,
    /// `pending`, `delivered`, `exhausted` (all attempts failed) or `discarded` (its endpoint was disabled or deleted).
    /// More states may be added.
    state: String,
    /// Attempts made so far.
    attempts: i16,
}

impl From<Listed> for WebhookEvent {
    fn from(listed: Listed) -> Self {
        let deliveries = listed.deliveries.into_iter();
        Self {
            id: listed.id.as_uuid(),
            kind: listed.kind.to_string(),
            media_id: listed.media.as_uuid(),
            occurred_at: listed.occurred_at.into(),
            deliveries: deliveries.map(WebhookEventDelivery::from).collect(),
        }
    }
}

impl From<Told> for WebhookEventDelivery {
    fn from(told: Told) -> Self {
        Self {
            delivery_id: told.delivery.as_uuid(),
            endpoint_id: told.endpoint.as_uuid(),
            state: told.status.to_string(),
            attempts: told.attempts,
        }
    }
}

#[derive(Default)]
pub(crate) struct WebhookEvents;

#[OpenApi(tag = "Tag::Webhooks")]
impl WebhookEvents {
    /// List a site's events
    ///
    /// Newest first, whether or not an endpoint was subscribed, with deliveries to the site's newest 1,000 endpoints,
    /// including deleted ones. One page looks at 5,000 events at most. With `kind`, `since` or `until` a page may therefore
    /// hold fewer than `limit` events, or none, although more follow: continue as long as there is a `next_cursor`.
    /// `media_id` is looked up directly. Events are kept for the site's `webhook_retention_days`.
    #[oai(
        path = "/sites/:site_id/webhook-events",
        method = "get",
        operation_id = "listWebhookEvents"
    )]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_webhook_events(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// Only events of this kind.
        kind: Query<EventKind>,
        /// Only events about this media item.
        media_id: Query<Uuid>,
        /// Only events that happened at this time or later.
        since: Query<Time>,
        /// Only events that happened before this time.
        until: Query<Time>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<WebhookEvent>>, Refusal> {
        let filter = Filter {
            kind: kind.0,
            media: media_id.0.map(Into::into),
            since: since.0.map(|time| time.0),
            until: until.0.map(|time| time.0),
        };
        let part = Part::new(&limit, &cursor);
        let after = part.after().map(EventId::from);
        let limit = part.limit();
        let page = events::list(&caller, site_id.0, &filter, after, limit).await?;
        Ok(Json(
            part.list_to(page.events, page.next.map(EventId::as_uuid)),
        ))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let event = json!({
        "id": example_values::EVENT,
        "kind": EventKind::MediaCreated,
        "media_id": example_values::MEDIA,
        "occurred_at": example_values::CREATED_AT,
        "deliveries": [{
            "delivery_id": example_values::DELIVERY,
            "endpoint_id": example_values::ENDPOINT,
            "state": "exhausted",
            "attempts": 12,
        }],
    });
    vec![
        Operation::new("listWebhookEvents", Scope::WebhooksRead)
            .answer(example_values::list(&event)),
    ]
}
