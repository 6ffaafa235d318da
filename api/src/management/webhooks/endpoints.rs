//! Webhook endpoints: list, create, read, change, disable, enable, retry, delete, test.

mod item;
mod settings;

use std::sync::Arc;

use ::management::sites;
use domain::{
    audit::Action,
    id::{EndpointId, SiteId},
    scope::Scope,
    webhook::Outcome,
};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::json;
use store::{
    endpoint::{
        self,
        owned::{self, Endpoint},
    },
    jobs, seal,
};

use self::{
    item::{NewDisabling, WebhookEndpoint, WebhookPing, WebhookRetry},
    settings::{NewWebhookEndpoint, WebhookEndpointChange, audited, audited_change},
};
use super::record;
use crate::{
    answer::{Created, Json, NoContent},
    management::{
        Management, PREFIX, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::{Caller, Change, Session, created},
    },
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

pub(crate) struct WebhookEndpoints;

#[OpenApi(tag = "Tag::Webhooks")]
impl WebhookEndpoints {
    /// List a site's webhook endpoints
    ///
    /// The oldest first, disabled ones included.
    #[oai(
        path = "/sites/:site_id/webhook-endpoints",
        method = "get",
        operation_id = "listWebhookEndpoints"
    )]
    async fn list_webhook_endpoints(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<WebhookEndpoint>>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        sites::require(&mut session, site_id.0).await?;
        let (part, key) = (Part::new(&limit, &cursor), &management.master_key);
        let endpoints = owned::list(session.conn(), key, site_id.0, part.page()).await?;
        Ok(Json(part.list(endpoints, |endpoint| endpoint.id.as_uuid())))
    }

    /// Add a webhook endpoint to a site
    ///
    /// It gets every event of its kinds that happens after this request is answered; the operation `pingWebhookEndpoint` tests it
    /// before. A site has as many endpoints as its team's plan allows: 10, unless it says otherwise.
    #[oai(
        path = "/sites/:site_id/webhook-endpoints",
        method = "post",
        operation_id = "createWebhookEndpoint"
    )]
    async fn create_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<NewWebhookEndpoint>,
    ) -> Result<Created<WebhookEndpoint>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let team = sites::require(&mut session, site_id.0).await?;
        let settings = request.value.settings(team, &management.outlet)?;
        let key = &management.master_key;
        // What is sealed with a key that is not this database's would be lost.
        seal::check_master_key(session.conn(), key).await?;
        let id = owned::add(session.conn(), key, site_id.0, &settings).await?;
        let value = WebhookEndpoint::from(find(&management, &mut session, id).await?);
        let mut details = audited(&settings);
        details["site_id"] = json!(site_id.0);
        let (action, details) = (Action::EndpointCreate, created(&details));
        record(session, action, team, id.as_uuid(), details).await?;
        Ok(Created {
            location: format!("{PREFIX}/webhook-endpoints/{id}"),
            value,
        })
    }

    /// Read a webhook endpoint
    ///
    /// What its owner decided, and how it fares.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "get",
        operation_id = "getWebhookEndpoint"
    )]
    async fn get_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksRead).await?;
        let endpoint = find(&management, &mut session, endpoint_id.0).await?;
        Ok(Json(endpoint.into()))
    }

    /// Change a webhook endpoint
    ///
    /// What waits for it goes where it is then, with the headers that it has then. When it moves, it is as new: how it fared is
    /// forgotten, and what waits is sent at once. Headers are replaced all together, since their values are shown to nobody.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "patch",
        operation_id = "updateWebhookEndpoint"
    )]
    async fn update_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<WebhookEndpointChange>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let before = lock(&management, &mut session, endpoint_id.0).await?;
        let old = before.settings.clone();
        let settings = request
            .value
            .applied_to(old, before.team, &management.outlet)?;
        let Some(details) = audited_change(&before.settings, &settings) else {
            return Ok(Json(before.into()));
        };
        let key = &management.master_key;
        seal::check_master_key(session.conn(), key).await?;
        owned::change(session.conn(), key, &before, &settings).await?;
        let after = find(&management, &mut session, before.id).await?;
        let (action, target) = (Action::EndpointUpdate, before.id.as_uuid());
        record(session, action, before.team, target, details).await?;
        // Its lane may have been paused.
        management.queue.wake([jobs::WEBHOOKS]);
        Ok(Json(after.into()))
    }

    /// Disable a webhook endpoint
    ///
    /// It gets no events that happen from now on. What waits for it is discarded when its turn comes. One that is disabled
    /// already stays so, for the reason that it was.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/disable",
        method = "post",
        operation_id = "disableWebhookEndpoint"
    )]
    async fn disable_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<NewDisabling>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let endpoint = lock(&management, &mut session, endpoint_id.0).await?;
        let reason = request.value.reason;
        if !owned::disable(session.conn(), endpoint.id, reason.as_str()).await? {
            return Ok(Json(endpoint.into()));
        }
        let after = find(&management, &mut session, endpoint.id).await?;
        let details = json!({ "reason": reason });
        let (action, target) = (Action::EndpointDisable, endpoint.id.as_uuid());
        record(session, action, endpoint.team, target, details).await?;
        Ok(Json(after.into()))
    }

    /// Enable a webhook endpoint
    ///
    /// Whatever disabled it, it is as new: how it fared is forgotten, it gets events that happen from now on, and what still waits
    /// is sent at once. What was discarded can be sent again.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/enable",
        method = "post",
        operation_id = "enableWebhookEndpoint"
    )]
    async fn enable_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let endpoint = lock(&management, &mut session, endpoint_id.0).await?;
        if !owned::enable(session.conn(), endpoint.id).await? {
            return Ok(Json(endpoint.into()));
        }
        let after = find(&management, &mut session, endpoint.id).await?;
        let details =
            json!({ "disabled_reason": { "from": endpoint.disabled_reason, "to": null } });
        let (action, target) = (Action::EndpointEnable, endpoint.id.as_uuid());
        let details = json!({ "changed": details });
        record(session, action, endpoint.team, target, details).await?;
        management.queue.wake([jobs::WEBHOOKS]);
        Ok(Json(after.into()))
    }

    /// Send what waits for a webhook endpoint now
    ///
    /// For a receiver that works again: what waits for its next attempt is due at once, and goes out in the order in which it
    /// happened, as quickly as the endpoint's limits allow. How the endpoint fared is forgotten. At most 10,000 deliveries are
    /// moved; the answer tells how many were. Changing the URL, enabling the endpoint and a test that succeeds do the same.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/retry-now",
        method = "post",
        operation_id = "retryWebhookEndpointNow"
    )]
    async fn retry_webhook_endpoint_now(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookRetry>, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let endpoint = lock(&management, &mut session, endpoint_id.0).await?;
        let deliveries = owned::retry_now(session.conn(), endpoint.id).await?;
        let (action, target) = (Action::EndpointRetry, endpoint.id.as_uuid());
        let details = json!({ "deliveries": deliveries });
        record(session, action, endpoint.team, target, details).await?;
        management.queue.wake([jobs::WEBHOOKS]);
        Ok(Json(WebhookRetry { deliveries }))
    }

    /// Delete a webhook endpoint
    ///
    /// Nothing more is sent to it, what waits is discarded, and its headers are no longer kept. Its deliveries can be read as
    /// long as those of others.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "delete",
        operation_id = "deleteWebhookEndpoint"
    )]
    async fn delete_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::WebhooksWrite).await?;
        let endpoint = lock(&management, &mut session, endpoint_id.0).await?;
        owned::delete(session.conn(), endpoint.id).await?;
        let mut details = audited(&endpoint.settings);
        details["site_id"] = json!(endpoint.site);
        let (action, target) = (Action::EndpointDelete, endpoint.id.as_uuid());
        let details = json!({ "deleted": details });
        record(session, action, endpoint.team, target, details).await?;
        management.queue.wake([jobs::WEBHOOKS]);
        Ok(NoContent)
    }

    /// Test a webhook endpoint
    ///
    /// Sends `webhook.test.ping` at once, also to a disabled endpoint, with the headers and signatures of real events; the
    /// signature stands in the body, too, as its last member `_service_signature`, made over the compact JSON of the others. The
    /// answer tells what came of it within 20 s. It is not repeated. When it succeeds, what waits for the endpoint's next attempt
    /// is sent at once; else it changes nothing that is known of the endpoint. An endpoint is tested six times a minute at most, and two tests of a team run at once. The audit log records each test
    /// and how it ended.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/ping",
        method = "post",
        operation_id = "pingWebhookEndpoint"
    )]
    async fn ping_webhook_endpoint(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookPing>, Refusal> {
        let mut session = management.read(&caller, Scope::WebhooksWrite).await?;
        let (of, key) = (session.only_team(), &management.master_key);
        let target = endpoint::target(session.conn(), key, of, endpoint_id.0).await?;
        let target = target.ok_or_else(unknown)?;
        // No transaction waits for somebody else's machine.
        let (doing, management) = (session.leave(), Arc::clone(management.0));
        // What was sent is recorded, also when the caller does not wait for its end.
        let pinging = tokio::spawn(async move {
            let team = target.team;
            let pinged = management.outlet.ping(target).await?;
            let change = Change {
                action: Action::EndpointPing,
                team: Some(team),
                target: endpoint_id.0.as_uuid(),
                details: json!({ "outcome": pinged.outcome, "status_code": pinged.status_code }),
            };
            let delivered = pinged.outcome == Outcome::Delivered.as_str();
            let mut tx = doing.begin(&management).await?;
            if delivered {
                owned::retry_now(&mut tx, endpoint_id.0).await?;
            }
            doing.done(tx, change).await?;
            if delivered {
                management.queue.wake([jobs::WEBHOOKS]);
            }
            Ok::<_, Refusal>(pinged)
        });
        let pinged = pinging.await.map_err(|_| Refusal::internal())??;
        Ok(Json(pinged.into()))
    }
}

async fn find(
    management: &Management,
    session: &mut Session,
    endpoint: EndpointId,
) -> Result<Endpoint, Refusal> {
    let (of, key) = (session.only_team(), &management.master_key);
    let endpoint = owned::find(session.conn(), key, of, endpoint).await?;
    endpoint.ok_or_else(unknown)
}

/// An endpoint that nobody else changes meanwhile.
async fn lock(
    management: &Management,
    session: &mut Session,
    endpoint: EndpointId,
) -> Result<Endpoint, Refusal> {
    let (of, key) = (session.only_team(), &management.master_key);
    let endpoint = owned::lock(session.conn(), key, of, endpoint).await?;
    endpoint.ok_or_else(unknown)
}

fn unknown() -> Refusal {
    Refusal::not_found("webhook endpoint")
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let endpoint = item::example();
    vec![
        Operation {
            answer: Some(example::list(&endpoint)),
            ..Operation::new("listWebhookEndpoints", Scope::WebhooksRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({
                "url": "https://example.com/hooks",
                "description": "The moderation queue",
                "max_per_second": 50,
                "headers": [{ "name": "Authorization", "value": "Bearer of-our-gateway" }],
            })),
            answer: Some(endpoint.clone()),
            ..Operation::new("createWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(endpoint.clone()),
            ..Operation::new("getWebhookEndpoint", Scope::WebhooksRead)
        },
        Operation {
            request: Some(json!({ "events": ["media.moderated"], "max_per_second": null })),
            answer: Some(endpoint.clone()),
            ..Operation::new("updateWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            request: Some(json!({ "reason": "The receiver is being rebuilt." })),
            answer: Some(endpoint.clone()),
            ..Operation::new("disableWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(endpoint),
            ..Operation::new("enableWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(json!({ "deliveries": 17 })),
            ..Operation::new("retryWebhookEndpointNow", Scope::WebhooksWrite)
        },
        Operation::new("deleteWebhookEndpoint", Scope::WebhooksWrite),
        Operation {
            problems: &[Code::TooManyPings],
            answer: Some(item::ping_example()),
            ..Operation::new("pingWebhookEndpoint", Scope::WebhooksWrite)
        },
    ]
}
