//! The request for a status, and the status in the answer.

use std::collections::HashMap;

use api_common::{public_schemas::ModerationDetails, raw_json::RawJson, text_decoding::Text};
use chrono::{DateTime, Utc};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{iso8601, iso8601_or_null};

/// The item, and the key that may read it.
#[derive(Deserialize, Object)]
pub(crate) struct StatusRequest {
    /// The site key: `site_` followed by a run of characters.
    pub(crate) api_key: Option<Text>,
    /// The item's id, from the answer of `submit-media`.
    pub(crate) media_id: Option<Text>,
}

/// A media item's status. All fields are always present. A field without a value is null.
#[derive(Serialize, Object)]
pub(crate) struct MediaStatus {
    /// The item's id.
    pub(super) media_id: Uuid,
    /// Your identifier of the item.
    #[oai(nullable)]
    pub(super) app_media_id: Option<String>,
    /// The site's id.
    pub(super) site_id: Uuid,
    /// `image` if the item has an image, otherwise `text`.
    pub(super) content_type: String,
    /// The status. If the site's status vocabulary is `completed`, this is `pending` or `completed`, and `action`
    /// has the result.
    pub(super) status: String,
    /// What to do with the item: `approve` (show it), `block` (do not show it) or `review` (wait for a moderator).
    /// Null while pending.
    #[oai(nullable)]
    pub(super) action: Option<String>,
    /// The reasons, as in the event `media.moderated`. Null while pending.
    #[serde(rename = "moderationResult")]
    #[oai(rename = "moderationResult", nullable)]
    pub(super) moderation_result: Option<RawJson<ModerationDetails>>,
    /// What decided: `ai`, `rule` or `manual` (a person).
    #[oai(nullable)]
    pub(super) moderation_type: Option<String>,
    /// When the item was accepted.
    #[serde(serialize_with = "iso8601")]
    pub(super) created_at: DateTime<Utc>,
    /// When the verdict was made.
    #[serde(serialize_with = "iso8601_or_null")]
    #[oai(nullable)]
    pub(super) moderated_at: Option<DateTime<Utc>>,
    /// The submitted `metadata`, unchanged.
    #[oai(nullable)]
    pub(super) metadata: Option<RawJson<HashMap<String, Value>>>,
}
