//! Webhook endpoints: list, create, read, change, disable, enable, retry, delete, test.

mod schemas;

use api_common::{Code, Created, Json, JsonBody, NoContent, Path, Query, Refusal};
use domain::{
    id::{EndpointId, SiteId},
    scope::Scope,
};
use management::endpoints;
use poem_openapi::OpenApi;
use serde_json::json;

use self::schemas::{
    NewDisabling, NewWebhookEndpoint, WebhookEndpoint, WebhookEndpointChange, WebhookPing,
    WebhookRetry,
};
use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct WebhookEndpoints;

#[OpenApi(tag = "Tag::Webhooks")]
impl WebhookEndpoints {
    /// List a site's webhook endpoints
    ///
    /// Oldest first, including disabled endpoints.
    #[oai(
        path = "/sites/:site_id/webhook-endpoints",
        method = "get",
        operation_id = "listWebhookEndpoints"
    )]
    async fn list_webhook_endpoints(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<WebhookEndpoint>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = endpoints::list(&caller, site_id.0, part.page()).await?;
        Ok(Json(part.list(found, |endpoint| endpoint.id.as_uuid())))
    }

    /// Add a webhook endpoint to a site
    ///
    /// The endpoint gets every event of its kinds that happens after this request is answered. Test it with
    /// `pingWebhookEndpoint`. The team's plan limits the endpoints of a site: 10 unless the plan says otherwise.
    #[oai(
        path = "/sites/:site_id/webhook-endpoints",
        method = "post",
        operation_id = "createWebhookEndpoint"
    )]
    async fn create_webhook_endpoint(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<NewWebhookEndpoint>,
    ) -> Result<Created<WebhookEndpoint>, Refusal> {
        let new = request.value.into();
        let endpoint = endpoints::create(&caller, site_id.0, new).await?;
        let location = format!("{PREFIX}/webhook-endpoints/{}", endpoint.id);
        Ok(Created::at(location, endpoint))
    }

    /// Read a webhook endpoint
    ///
    /// The endpoint's settings and delivery health.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "get",
        operation_id = "getWebhookEndpoint"
    )]
    async fn get_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let endpoint = endpoints::get(&caller, endpoint_id.0).await?;
        Ok(Json(endpoint.into()))
    }

    /// Change a webhook endpoint
    ///
    /// Waiting deliveries use the new settings. If the URL changes, the endpoint counts as new: its delivery health is
    /// reset and waiting deliveries are sent at once. `headers` replaces all headers, because their values are never shown.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "patch",
        operation_id = "updateWebhookEndpoint"
    )]
    async fn update_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<WebhookEndpointChange>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let change = request.value.into();
        let endpoint = endpoints::update(&caller, endpoint_id.0, change).await?;
        Ok(Json(endpoint.into()))
    }

    /// Disable a webhook endpoint
    ///
    /// The endpoint gets no events that happen from now on. Waiting deliveries are discarded when their turn comes. An
    /// endpoint that is already disabled keeps its reason.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/disable",
        method = "post",
        operation_id = "disableWebhookEndpoint"
    )]
    async fn disable_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<NewDisabling>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let reason = &request.value.reason;
        let endpoint = endpoints::disable(&caller, endpoint_id.0, reason).await?;
        Ok(Json(endpoint.into()))
    }

    /// Enable a webhook endpoint
    ///
    /// Whatever disabled it, the endpoint counts as new: its delivery health is reset, it gets events that happen from now
    /// on, and deliveries that still wait are sent at once. Discarded deliveries can be sent again.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/enable",
        method = "post",
        operation_id = "enableWebhookEndpoint"
    )]
    async fn enable_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookEndpoint>, Refusal> {
        let endpoint = endpoints::enable(&caller, endpoint_id.0).await?;
        Ok(Json(endpoint.into()))
    }

    /// Send what waits for a webhook endpoint now
    ///
    /// Use this when your receiver works again. Deliveries that wait for their next attempt are due at once. They are sent
    /// in the order in which the events happened, as quickly as the endpoint's limits allow. The endpoint's delivery health
    /// is reset. At most 10,000 deliveries are moved; the answer tells how many. Changing the URL, enabling the endpoint
    /// and a successful test do the same.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/retry-now",
        method = "post",
        operation_id = "retryWebhookEndpointNow"
    )]
    async fn retry_webhook_endpoint_now(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookRetry>, Refusal> {
        let deliveries = endpoints::retry_now(&caller, endpoint_id.0).await?;
        Ok(Json(WebhookRetry { deliveries }))
    }

    /// Delete a webhook endpoint
    ///
    /// Nothing more is sent to the endpoint, waiting deliveries are discarded, and its headers are erased. Its deliveries
    /// can still be read until their retention ends.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id",
        method = "delete",
        operation_id = "deleteWebhookEndpoint"
    )]
    async fn delete_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<NoContent, Refusal> {
        endpoints::delete(&caller, endpoint_id.0).await?;
        Ok(NoContent)
    }

    /// Test a webhook endpoint
    ///
    /// Sends `webhook.test.ping` at once, also to a disabled endpoint, with the headers and signatures of real events. The
    /// body contains the signature as well, in its last member `_service_signature`, made over the compact JSON of the
    /// other members. The answer tells you the result within 20 s. The test is not repeated. If it succeeds, deliveries
    /// that wait for their next attempt are sent at once. Otherwise it does not change the endpoint's delivery health. An
    /// endpoint can be tested six times a minute, and a team can run two tests at once. The audit log records each test and
    /// its result.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/ping",
        method = "post",
        operation_id = "pingWebhookEndpoint"
    )]
    async fn ping_webhook_endpoint(
        &self,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
    ) -> Result<Json<WebhookPing>, Refusal> {
        let pinged = endpoints::ping(&caller, endpoint_id.0).await?;
        Ok(Json(pinged.into()))
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let endpoint = schemas::example();
    vec![
        Operation::new("listWebhookEndpoints", Scope::WebhooksRead)
            .answer(example_values::list(&endpoint)),
        Operation::new("createWebhookEndpoint", Scope::WebhooksWrite)
            .problems(&[Code::LimitReached])
            .request(json!({
                "url": "https://example.com/hooks",
                "description": "The moderation queue",
                "max_per_second": 50,
                "headers": [{ "name": "Authorization", "value": "Bearer of-our-gateway" }],
            }))
            .answer(endpoint.clone()),
        Operation::new("getWebhookEndpoint", Scope::WebhooksRead).answer(endpoint.clone()),
        Operation::new("updateWebhookEndpoint", Scope::WebhooksWrite)
            .request(json!({ "events": ["media.moderated"], "max_per_second": null }))
            .answer(endpoint.clone()),
        Operation::new("disableWebhookEndpoint", Scope::WebhooksWrite)
            .request(json!({ "reason": "The receiver is being rebuilt." }))
            .answer(endpoint.clone()),
        Operation::new("enableWebhookEndpoint", Scope::WebhooksWrite).answer(endpoint),
        Operation::new("retryWebhookEndpointNow", Scope::WebhooksWrite)
            .answer(json!({ "deliveries": 17 })),
        Operation::new("deleteWebhookEndpoint", Scope::WebhooksWrite),
        Operation::new("pingWebhookEndpoint", Scope::WebhooksWrite)
            .problems(&[Code::TooManyPings])
            .answer(schemas::ping_example()),
    ]
}
