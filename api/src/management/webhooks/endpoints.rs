//! Webhook endpoints: list, create, read, change, disable, enable, retry, delete, test.

mod item;
mod settings;

use std::sync::Arc;

use domain::{
    id::{EndpointId, SiteId},
    scope::Scope,
};
use management::{Management, endpoints};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::json;

use self::{
    item::{NewDisabling, WebhookEndpoint, WebhookPing, WebhookRetry},
    settings::{NewWebhookEndpoint, WebhookEndpointChange},
};
use crate::{
    answer::{Created, Json, NoContent},
    management::{
        PREFIX, Tag,
        caller::Caller,
        document::{Operation, example},
        list::{After, Limit, List, Part},
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
        let part = Part::new(&limit, &cursor);
        let found = endpoints::list(&management, &caller, site_id.0, part.page()).await?;
        Ok(Json(part.list(found, |endpoint| endpoint.id.as_uuid())))
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
        let new = request.value.into();
        let endpoint = endpoints::create(&management, &caller, site_id.0, new).await?;
        Ok(Created {
            location: format!("{PREFIX}/webhook-endpoints/{}", endpoint.id),
            value: endpoint.into(),
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
        let endpoint = endpoints::get(&management, &caller, endpoint_id.0).await?;
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
        let change = request.value.into();
        let endpoint = endpoints::update(&management, &caller, endpoint_id.0, change).await?;
        Ok(Json(endpoint.into()))
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
        let reason = &request.value.reason;
        let endpoint = endpoints::disable(&management, &caller, endpoint_id.0, reason).await?;
        Ok(Json(endpoint.into()))
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
        let endpoint = endpoints::enable(&management, &caller, endpoint_id.0).await?;
        Ok(Json(endpoint.into()))
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
        let deliveries = endpoints::retry_now(&management, &caller, endpoint_id.0).await?;
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
        endpoints::delete(&management, &caller, endpoint_id.0).await?;
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
        let pinged = endpoints::ping(&management, &caller, endpoint_id.0).await?;
        Ok(Json(pinged.into()))
    }
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
