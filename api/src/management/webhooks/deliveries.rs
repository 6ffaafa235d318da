//! Deliveries: list, read, send again.

mod item;

use std::sync::Arc;

use ::management::sites;
use domain::{
    audit::Action,
    event::EventKind,
    id::{DeliveryId, SiteId},
    scope::Scope,
    webhook::DeliveryStatus,
};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::json;
use store::delivery::{self, Delivery, Filter, NotResent};
use uuid::Uuid;

use self::item::{WebhookDelivery, WebhookDeliveryItem};
use super::record;
use crate::{
    answer::{Accepted, Json},
    management::{
        Management, PREFIX, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::{Caller, Session},
    },
    member::Time,
    path::Path,
    problem::{Code, Refusal},
    query::Query,
};

pub(crate) struct Deliveries;

#[OpenApi(tag = "Tag::Webhooks")]
impl Deliveries {
    /// List a site's deliveries
    ///
    /// Those of the newest events first, deleted endpoints' included. A part of a list looks at 5,000 deliveries at most, so with
    /// `state`, `event`, `since` or `until` it may have fewer than `limit`, even none, although more follow: go on as long as
    /// there is a `next_cursor`. What ended without success (`state=exhausted` or `discarded`), and what there is about an item,
    /// is found directly. They are kept for 30 days.
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
        /// Only deliveries that stand so.
        state: Query<DeliveryStatus>,
        /// Only deliveries of events of this kind.
        event: Query<EventKind>,
        /// Only deliveries of events about this item.
        media_id: Query<Uuid>,
        /// Only deliveries of events that happened at this time or later.
        since: Query<Time>,
        /// Only deliveries of events that happened before this time.
        until: Query<Time>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<WebhookDelivery>>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        sites::require(&mut session, site_id.0).await?;
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
        let conn = session.conn();
        let page = delivery::list(conn, site_id.0, &filter, after, part.limit()).await?;
        let next = page.next.map(DeliveryId::as_uuid);
        Ok(Json(part.list_to(page.deliveries, next)))
    }

    /// Read a delivery
    ///
    /// What is sent, and every attempt to send it, with what came back.
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
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        let delivery = find(&management, &mut session, delivery_id.0).await?;
        Ok(Json(delivery.into()))
    }

    /// Send a delivery again
    ///
    /// One that has ended, however it did: at once, and if that fails by a whole schedule of its own. Its id and its body stay
    /// as they were, so that receivers know it again. Its attempts are counted on.
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
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let (of, id) = (session.only_team(), delivery_id.0);
        let resent = delivery::resend(session.conn(), of, id).await?;
        let resent = resent.map_err(Refusal::from)?;
        let value = find(&management, &mut session, id).await?;
        let details = json!({
            "site_id": resent.site,
            "endpoint_id": resent.endpoint,
            "event_id": resent.event,
            "changed": { "state": { "from": resent.from, "to": value.listed.status } },
        });
        let (action, target) = (Action::DeliveryResend, id.as_uuid());
        record(session, action, resent.team, target, details).await?;
        management.queue.enqueued(&resent.jobs);
        Ok(Accepted {
            location: format!("{PREFIX}/deliveries/{id}"),
            value: value.into(),
        })
    }
}

async fn find(
    management: &Management,
    session: &mut Session,
    delivery: DeliveryId,
) -> Result<Delivery, Refusal> {
    let (of, key) = (session.only_team(), &management.master_key);
    let delivery = delivery::find(session.conn(), key, of, delivery).await?;
    delivery.ok_or_else(unknown)
}

fn unknown() -> Refusal {
    Refusal::not_found("delivery")
}

impl From<NotResent> for Refusal {
    fn from(why: NotResent) -> Self {
        match why {
            NotResent::Unknown => unknown(),
            NotResent::Pending => Self::new(
                Code::DeliveryPending,
                "The delivery has not ended: it is tried again by itself, at next_attempt_at.",
            ),
            NotResent::Disabled => Self::new(
                Code::EndpointDisabled,
                "The endpoint is disabled: see why in disabled_reason, enable it, and send the delivery again then.",
            ),
            NotResent::Deleted => Self::new(
                Code::EndpointDisabled,
                "The endpoint was deleted: nothing is sent to it any more.",
            ),
            NotResent::TooOften => Self::new(
                Code::LimitReached,
                "The delivery was attempted 10,000 times, after which it is not sent again.",
            ),
        }
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example::list(&item::listed_example())),
            ..Operation::new("listDeliveries", Scope::WebhooksRead)
        },
        Operation {
            answer: Some(item::example()),
            ..Operation::new("getDelivery", Scope::WebhooksRead)
        },
        Operation {
            problems: &[
                Code::DeliveryPending,
                Code::EndpointDisabled,
                Code::LimitReached,
            ],
            answer: Some(item::example()),
            ..Operation::new("resendDelivery", Scope::WebhooksWrite)
        },
    ]
}
