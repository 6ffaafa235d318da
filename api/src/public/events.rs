//! The webhooks as the document describes them. `domain::event` writes their bodies; a test holds the two together.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use poem_openapi::{Object, Webhook, param::Header};
use serde_json::Value;
use uuid::Uuid;

use super::details::ModerationDetails;
use crate::payload::JsonBody;

/// What Gatehouse sends to a site's endpoints.
#[Webhook]
#[expect(dead_code, reason = "it is only described here; the workers send it")]
pub(crate) trait Events {
    /// Media was accepted
    ///
    /// Sent for every submission that was accepted. Any 2xx within 15 seconds acknowledges it; everything else is tried
    /// again, 12 attempts over about two days.
    #[oai(name = "media.created", method = "post", operation_id = "onMediaCreated")]
    fn media_created(
        &self,
        /// `sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the site's webhook secret.
        #[oai(name = "X-Service-Signature")]
        signature: Header<String>,
        /// The event's name.
        #[oai(name = "X-Service-Event")]
        event: Header<String>,
        /// The same in all attempts of a delivery.
        #[oai(name = "X-Service-Delivery-ID")]
        delivery: Header<Uuid>,
        body: JsonBody<MediaCreatedEvent>,
    );

    /// Moderation finished
    ///
    /// Sent when a media item was decided, and again when a moderator changes its verdict. Acknowledged and tried again
    /// as `media.created` is; do not rely on the order of the two.
    #[oai(name = "media.moderated", method = "post", operation_id = "onMediaModerated")]
    fn media_moderated(
        &self,
        /// `sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the site's webhook secret.
        #[oai(name = "X-Service-Signature")]
        signature: Header<String>,
        /// The event's name.
        #[oai(name = "X-Service-Event")]
        event: Header<String>,
        /// The same in all attempts of a delivery.
        #[oai(name = "X-Service-Delivery-ID")]
        delivery: Header<Uuid>,
        body: JsonBody<MediaModeratedEvent>,
    );
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
