//! Deliveries: list, read, send again.

mod schemas;

use std::sync::Arc;

use api_common::{
    field::Time,
    path_parameters::Path,
    problem::{Code, Refusal},
    query_parameters::Query,
    response::{Accepted, Json},
};
use domain::{
    event::EventKind,
    id::{DeliveryId, SiteId},
    scope::Scope,
    webhook::DeliveryStatus,
};
use management::{Management, deliveries};
use poem::web::Data;
use poem_openapi::OpenApi;
use store::delivery::Filter;
use uuid::Uuid;

use self::schemas::{WebhookDelivery, WebhookDeliveryItem};
use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
    openapi::{Operation, example_values},
};

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
        management: Data<&Arc<Management>>,
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
        let page = deliveries::list(&management, &caller, site_id.0, &filter, after, limit).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The delivery.
        delivery_id: Path<DeliveryId>,
    ) -> Result<Json<WebhookDeliveryItem>, Refusal> {
        let delivery = deliveries::get(&management, &caller, delivery_id.0).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The delivery.
        delivery_id: Path<DeliveryId>,
    ) -> Result<Accepted<WebhookDeliveryItem>, Refusal> {
        let delivery = deliveries::resend(&management, &caller, delivery_id.0).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/deliveries/{}", delivery_id.0),
            value: delivery.into(),
        })
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example_values::list(&schemas::listed_example())),
            ..Operation::new("listDeliveries", Scope::WebhooksRead)
        },
        Operation {
            answer: Some(schemas::example()),
            ..Operation::new("getDelivery", Scope::WebhooksRead)
        },
        Operation {
            problems: &[
                Code::DeliveryPending,
                Code::EndpointDisabled,
                Code::LimitReached,
            ],
            answer: Some(schemas::example()),
            ..Operation::new("resendDelivery", Scope::WebhooksWrite)
        },
    ]
}
