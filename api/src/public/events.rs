//! The webhooks as the document describes them. `domain::event` writes their bodies; a test holds the two together.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use poem::http::Method;
use poem_openapi::{
    Object, Webhook,
    registry::{
        MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaRequest, MetaResponses,
        MetaSchemaRef, MetaWebhook, Registry,
    },
    types::Type,
};
use serde_json::Value;
use uuid::Uuid;

use super::details::ModerationDetails;

/// What Gatehouse sends to a site's endpoints.
pub(crate) enum Events {}

// By hand: poem-openapi's macro takes one webhook of a method.
impl Webhook for Events {
    fn meta() -> Vec<MetaWebhook> {
        vec![
            event(
                "Media",
                "media.created",
                "onMediaCreated",
                "Media was accepted",
                "Sent for every accepted submission. Any 2xx within 15 seconds acknowledges it; everything else is tried \
                 again, 12 attempts over about two days.",
                MediaCreatedEvent::schema_ref(),
            ),
            event(
                "Media",
                "media.moderated",
                "onMediaModerated",
                "Moderation finished",
                "Sent when a media item was decided, and again when a moderator changes its verdict. Acknowledged and \
                 tried again as `media.created` is; do not rely on the order of the two.",
                MediaModeratedEvent::schema_ref(),
            ),
        ]
    }

    fn register(registry: &mut Registry) {
        MediaCreatedEvent::register(registry);
        MediaModeratedEvent::register(registry);
    }
}

/// What Gatehouse sends when an endpoint is tested.
pub(crate) enum Pings {}

impl Webhook for Pings {
    fn meta() -> Vec<MetaWebhook> {
        vec![event(
            "Webhooks",
            domain::event::PING,
            "onWebhookTestPing",
            "An endpoint is tested",
            "Sent once, when the endpoint is tested. Any 2xx is a success.",
            WebhookTestPingEvent::schema_ref(),
        )]
    }

    fn register(registry: &mut Registry) {
        WebhookTestPingEvent::register(registry);
    }
}

fn event(
    tag: &'static str,
    name: &'static str,
    operation_id: &'static str,
    summary: &'static str,
    description: &'static str,
    body: MetaSchemaRef,
) -> MetaWebhook {
    MetaWebhook {
        name,
        operation: MetaOperation {
            tags: vec![tag],
            method: Method::POST,
            summary: Some(summary),
            description: Some(description),
            external_docs: None,
            params: headers(),
            request: Some(MetaRequest {
                description: None,
                content: vec![MetaMediaType {
                    content_type: "application/json",
                    schema: body,
                }],
                required: true,
            }),
            responses: MetaResponses {
                responses: Vec::new(),
            },
            deprecated: false,
            security: Vec::new(),
            operation_id: Some(operation_id),
            code_samples: Vec::new(),
        },
    }
}

fn headers() -> Vec<MetaOperationParam> {
    let header = |name: &str, description: &str, schema: MetaSchemaRef| MetaOperationParam {
        name: name.to_owned(),
        schema,
        in_type: MetaParamIn::Header,
        description: Some(description.to_owned()),
        required: true,
        deprecated: false,
        explode: false,
        style: None,
    };
    let text = String::schema_ref;
    vec![
        header(
            "X-Service-Signature",
            "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the site's webhook secret.",
            text(),
        ),
        header("X-Service-Event", "The event's name.", text()),
        header(
            "X-Service-Delivery-ID",
            "Stays the same over all attempts of a delivery.",
            Uuid::schema_ref(),
        ),
        header(
            "webhook-id",
            "The event's id (Standard Webhooks); the same for all endpoints.",
            text(),
        ),
        header(
            "webhook-timestamp",
            "When this attempt was signed, in seconds (Standard Webhooks).",
            text(),
        ),
        header(
            "webhook-signature",
            "`v1,` and base64, maybe several (Standard Webhooks).",
            text(),
        ),
    ]
}

/// The body of `media.created`.
#[derive(Object)]
pub(crate) struct MediaCreatedEvent {
    /// `media.created`.
    event: String,
    /// When it happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaCreated,
}

/// A media item that was accepted.
#[derive(Object)]
struct MediaCreated {
    /// The item.
    media_id: Uuid,
    /// Your own identifier, if you gave one.
    app_media_id: Option<String>,
    /// The site that owns it.
    site_id: Uuid,
    /// Always `pending`.
    status: String,
    /// `image` as soon as there is an image, else `text`.
    content_type: String,
    /// When it was accepted.
    created_at: DateTime<Utc>,
    /// What was submitted as `metadata`, unchanged.
    metadata: Option<HashMap<String, Value>>,
}

/// The body of `media.moderated`.
#[derive(Object)]
pub(crate) struct MediaModeratedEvent {
    /// `media.moderated`.
    event: String,
    /// When it happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaModerated,
}

/// A media item that was decided.
#[derive(Object)]
struct MediaModerated {
    /// The item.
    media_id: Uuid,
    /// Your own identifier, if you gave one.
    app_media_id: Option<String>,
    /// The site that owns it.
    site_id: Uuid,
    /// The verdict: `approved`, `rejected` or `pending_review`.
    status: String,
    /// What it was before.
    previous_status: String,
    /// Who or what decided: `ai`, `rule` or `manual`.
    moderation_type: String,
    /// When it was decided.
    moderated_at: DateTime<Utc>,
    /// Why.
    moderation_details: Option<ModerationDetails>,
    /// What was submitted as `metadata`, unchanged.
    metadata: Option<HashMap<String, Value>>,
}

/// The body of `webhook.test.ping`.
#[derive(Object)]
pub(crate) struct WebhookTestPingEvent {
    /// `webhook.test.ping`.
    event: String,
    /// When the test was made.
    timestamp: DateTime<Utc>,
    /// The test.
    data: WebhookTestPing,
    /// `sha256=` and the hex HMAC-SHA256 of the compact JSON of the other members, keyed with the site's webhook secret.
    /// It is the last member of the body.
    #[oai(rename = "_service_signature")]
    signature: String,
}

/// A test of an endpoint.
#[derive(Object)]
struct WebhookTestPing {
    /// The site that owns the endpoint.
    site_id: Uuid,
    /// Always true.
    test: bool,
    /// A text for people.
    message: String,
}
