//! The webhooks as the document describes them. `domain::event` writes their bodies. A test
//! compares the two.

#![expect(
    dead_code,
    reason = "`domain` writes these objects, and here they are only described"
)]

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use poem::http::Method;
use poem_openapi::{
    Webhook,
    registry::{
        MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaRequest, MetaResponses,
        MetaSchemaRef, MetaWebhook, Registry,
    },
    types::Type,
};
use serde_json::Value;
use uuid::Uuid;

use super::ModerationDetails;
use crate::Schema;

/// What Gatehouse sends to a site's endpoints.
pub enum Events {}

// Written by hand: poem-openapi's macro supports one webhook for each method.
impl Webhook for Events {
    fn meta() -> Vec<MetaWebhook> {
        vec![
            event(
                "Media",
                "media.created",
                "onMediaCreated",
                "Media was accepted",
                "Sent for every accepted submission. Answer with any 2xx status within 15 seconds. Otherwise Gatehouse \
                 tries again: 12 attempts in about two days.",
                MediaCreatedEvent::schema_ref(),
            ),
            event(
                "Media",
                "media.moderated",
                "onMediaModerated",
                "Moderation finished",
                "Sent when an item gets its verdict, and again when a moderator changes the verdict. Acknowledged and \
                 tried again like `media.created`. It can arrive before `media.created`.",
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
pub enum Pings {}

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
            "The delivery's id. It is the same for all attempts.",
            Uuid::schema_ref(),
        ),
        header(
            "webhook-id",
            "The event's id (Standard Webhooks). It is the same for all endpoints.",
            text(),
        ),
        header(
            "webhook-timestamp",
            "When this attempt was signed, in Unix seconds (Standard Webhooks).",
            text(),
        ),
        header(
            "webhook-signature",
            "One or several signatures, separated by spaces: `v1,` and base64 (Standard Webhooks).",
            text(),
        ),
        MetaOperationParam {
            required: false,
            ..header(
                "traceparent",
                "The item's trace (W3C Trace Context). Each attempt has another span ID.",
                text(),
            )
        },
    ]
}

/// The body of `media.created`.
#[derive(Schema)]
pub struct MediaCreatedEvent {
    /// `media.created`.
    event: String,
    /// When the event happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaCreated,
}

/// An accepted media item.
#[derive(Schema)]
struct MediaCreated {
    /// The item.
    media_id: Uuid,
    /// Your identifier of the item, if you sent one.
    app_media_id: Option<String>,
    /// The site's id.
    site_id: Uuid,
    /// Always `pending`.
    status: String,
    /// `image` if the item has an image, otherwise `text`.
    content_type: String,
    /// When the item was accepted.
    created_at: DateTime<Utc>,
    /// The submitted `metadata`, unchanged.
    metadata: Option<HashMap<String, Value>>,
}

/// The body of `media.moderated`.
#[derive(Schema)]
pub struct MediaModeratedEvent {
    /// `media.moderated`.
    event: String,
    /// When the event happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaModerated,
}

/// A media item with a verdict.
#[derive(Schema)]
struct MediaModerated {
    /// The item.
    media_id: Uuid,
    /// Your identifier of the item, if you sent one.
    app_media_id: Option<String>,
    /// The site's id.
    site_id: Uuid,
    /// The verdict: `approved`, `rejected` or `pending_review`.
    status: String,
    /// The status before.
    previous_status: String,
    /// What decided: `ai`, `rule` or `manual` (a person).
    moderation_type: String,
    /// When the verdict was made.
    moderated_at: DateTime<Utc>,
    /// The reasons.
    moderation_details: Option<ModerationDetails>,
    /// The submitted `metadata`, unchanged.
    metadata: Option<HashMap<String, Value>>,
}

/// The body of `webhook.test.ping`.
#[derive(Schema)]
pub struct WebhookTestPingEvent {
    /// `webhook.test.ping`.
    event: String,
    /// When the test was sent.
    timestamp: DateTime<Utc>,
    /// The test's content.
    data: WebhookTestPing,
    /// `sha256=` and the hex HMAC-SHA256 of the compact JSON of the other fields, keyed with the site's webhook
    /// secret. It is the last field of the body.
    #[serde(rename = "_service_signature")]
    signature: String,
}

/// A test of an endpoint.
#[derive(Schema)]
struct WebhookTestPing {
    /// The id of the endpoint's site.
    site_id: Uuid,
    /// Always true.
    test: bool,
    /// A message for people.
    message: String,
}
