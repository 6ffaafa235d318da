//! The bodies of webhooks.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use poem_openapi::Object;
use serde_json::Value;
use uuid::Uuid;

use crate::public_schemas::ModerationDetails;

/// The body of `media.created`.
#[derive(Object)]
pub struct MediaCreatedEvent {
    /// `media.created`.
    event: String,
    /// When the event happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaCreated,
}

/// An accepted media item.
#[derive(Object)]
pub(super) struct MediaCreated {
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
#[derive(Object)]
pub struct MediaModeratedEvent {
    /// `media.moderated`.
    event: String,
    /// When the event happened.
    timestamp: DateTime<Utc>,
    /// The item.
    data: MediaModerated,
}

/// A media item with a verdict.
#[derive(Object)]
pub(super) struct MediaModerated {
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
#[derive(Object)]
pub struct WebhookTestPingEvent {
    /// `webhook.test.ping`.
    event: String,
    /// When the test was sent.
    timestamp: DateTime<Utc>,
    /// The test's content.
    data: WebhookTestPing,
    /// `sha256=` and the hex HMAC-SHA256 of the compact JSON of the other fields, keyed with the site's webhook
    /// secret. It is the last field of the body.
    #[oai(rename = "_service_signature")]
    signature: String,
}

/// A test of an endpoint.
#[derive(Object)]
pub(super) struct WebhookTestPing {
    /// The id of the endpoint's site.
    site_id: Uuid,
    /// Always true.
    test: bool,
    /// A message for people.
    message: String,
}
