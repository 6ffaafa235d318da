//! `get-media-status`: the status of an item, by POST or GET.

use std::collections::HashMap;

use api_common::{
    Code, Json, RateLimited, RawJson, Refusal, Schema,
    public_schemas::ModerationDetails,
    text_decoding::{self, Text},
};
use chrono::{DateTime, Utc};
use domain::{event::timestamp, id::MediaId, key::SecretHash, rate_limit::RatePolicy};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use store::item_status::Answer;
use uuid::Uuid;

use super::Public;
use crate::caller::{self, Bearer};

impl StatusRequest {
    /// A GET can have a query and a body. A value in both must be the same.
    pub(crate) fn merged_with(self, body: Option<Self>) -> Result<Self, Refusal> {
        let Some(body) = body else { return Ok(self) };
        Ok(Self {
            api_key: merged("api_key", self.api_key, body.api_key)?,
            media_id: merged("media_id", self.media_id, body.media_id)?,
        })
    }
}

fn merged(field: &str, query: Option<Text>, body: Option<Text>) -> Result<Option<Text>, Refusal> {
    match (query, body) {
        (Some(query), Some(body)) if query != body => Err(Refusal::invalid_field(
            field,
            "is one value in the query and another in the body",
        )),
        (query, body) => Ok(query.or(body)),
    }
}

fn iso8601<S: Serializer>(time: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&timestamp(*time))
}

#[expect(clippy::ref_option, reason = "serde passes the member by reference")]
fn iso8601_or_null<S: Serializer>(
    time: &Option<DateTime<Utc>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(timestamp).serialize(serializer)
}

impl From<&store::item_status::MediaStatus> for MediaStatus {
    fn from(media: &store::item_status::MediaStatus) -> Self {
        Self {
            media_id: media.media.as_uuid(),
            app_media_id: media.app_media_id.clone(),
            site_id: media.site.as_uuid(),
            content_type: media.content_type.as_str().to_owned(),
            status: media.status.spelled(media.vocabulary).to_owned(),
            action: media
                .status
                .action()
                .map(|action| action.as_str().to_owned()),
            moderation_result: media.details.clone().map(RawJson::from),
            moderation_type: media.moderation_type.map(|by| by.as_str().to_owned()),
            created_at: media.created_at,
            moderated_at: media.moderated_at,
            metadata: media.metadata.clone().map(RawJson::from),
        }
    }
}

/// The problems that both operations can answer with.
pub(crate) const REFUSALS: &[Code] = &[
    Code::InvalidRequest,
    Code::InvalidApiKey,
    Code::MediaNotFound,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::RateLimited,
    Code::InternalError,
    Code::Overloaded,
];

/// The status of the item, if the key can read it.
pub(crate) async fn status(
    public: &Public,
    bearer: Bearer,
    request: &StatusRequest,
) -> Result<RateLimited<Json<MediaStatus>>, Refusal> {
    let key = caller::key(request.api_key.as_ref(), bearer)?;
    let rate = caller::admitted(public.rates.admit(key, RatePolicy::Status).await?)?;
    match find(public, key, request).await {
        Ok(status) => Ok(RateLimited {
            rate,
            answer: Json(status),
        }),
        Err(refusal) => Err(refusal.within(rate)),
    }
}

async fn find(
    public: &Public,
    key: SecretHash,
    request: &StatusRequest,
) -> Result<MediaStatus, Refusal> {
    if request.media_id == Some(Text::IsNot) {
        return Err(refuse_id(public, key, text_decoding::MUST_BE).await);
    }
    let text = request.media_id.as_ref().and_then(Text::as_str);
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Err(refuse_id(
            public,
            key,
            "is missing: it must be the id that submit-media answered",
        )
        .await);
    };
    let Ok(media) = text.parse::<MediaId>() else {
        return Err(refuse_id(public, key, "must be a UUID").await);
    };
    match public.statuses.find(key, media).await? {
        None => Err(Refusal::invalid_api_key()),
        Some(Answer::UnknownMedia) => Err(Refusal::new(
            Code::MediaNotFound,
            "The site has no media item of this id.",
        )),
        Some(Answer::Media(media)) => Ok(MediaStatus::from(&*media)),
    }
}

/// Only callers with a valid key see what else is wrong with the request.
async fn refuse_id(public: &Public, key: SecretHash, message: &'static str) -> Refusal {
    match public.sites.reload(key).await {
        Ok(Some(_)) => Refusal::invalid_field("media_id", message),
        Ok(None) => Refusal::invalid_api_key(),
        Err(error) => error.into(),
    }
}

/// The item, and the key that may read it.
#[derive(Deserialize, Schema)]
pub(crate) struct StatusRequest {
    /// The site key: `site_` followed by a run of characters.
    pub(crate) api_key: Option<Text>,
    /// The item's id, from the answer of `submit-media`.
    pub(crate) media_id: Option<Text>,
}

/// A media item's status. All fields are always present. A field without a value is null.
#[derive(Serialize, Schema)]
pub(crate) struct MediaStatus {
    /// The item's id.
    media_id: Uuid,
    /// Your identifier of the item.
    #[schema(nullable)]
    app_media_id: Option<String>,
    /// The site's id.
    site_id: Uuid,
    /// `image` if the item has an image, otherwise `text`.
    content_type: String,
    /// The status. If the site's status vocabulary is `completed`, this is `pending` or `completed`, and `action`
    /// has the result.
    status: String,
    /// What to do with the item: `approve` (show it), `block` (do not show it) or `review` (wait for a moderator).
    /// Null while pending.
    #[schema(nullable)]
    action: Option<String>,
    /// The reasons, as in the event `media.moderated`. Null while pending.
    #[serde(rename = "moderationResult")]
    #[schema(nullable)]
    moderation_result: Option<RawJson<ModerationDetails>>,
    /// What decided: `ai`, `rule` or `manual` (a person).
    #[schema(nullable)]
    moderation_type: Option<String>,
    /// When the item was accepted.
    #[serde(serialize_with = "iso8601")]
    created_at: DateTime<Utc>,
    /// When the verdict was made.
    #[serde(serialize_with = "iso8601_or_null")]
    #[schema(nullable)]
    moderated_at: Option<DateTime<Utc>>,
    /// The submitted `metadata`, unchanged.
    #[schema(nullable)]
    metadata: Option<RawJson<HashMap<String, Value>>>,
}
