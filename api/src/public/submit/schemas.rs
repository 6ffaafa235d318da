//! The body of a submission and its answer.

use std::collections::HashMap;

use api_common::{RawJson, Schema, public_schemas::ModerationDetails, text_decoding::Text};
use domain::{
    id::MediaId,
    media::Status,
    submission::{NoText, RawSubmission},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::Verdict;

/// A submission: a text, an image, or both. Unknown fields are ignored. Null, an empty text, an empty URL and an
/// empty image count as not given. No value may contain the character U+0000.
#[derive(Default, Deserialize, Schema)]
pub(crate) struct SubmitRequest {
    /// The site key: `site_` followed by a run of characters.
    pub(crate) api_key: Option<Text>,
    /// The text to moderate: at most 100 KB (102,400 bytes of UTF-8). Half of a character, such as an emoji that
    /// JavaScript cut in half, counts as U+FFFD. Other fields with half characters are refused.
    #[schema(nullable, max_length = 102_400)]
    pub(crate) body: Option<Text>,
    /// The image's http or https URL. The image must be JPEG, PNG, GIF or WebP, with at most 10 MB.
    #[schema(nullable, max_length = 8_192)]
    pub(crate) content_url: Option<Text>,
    /// The image itself, instead of `content_url`: base64, plain or as a `data:image/...;base64,` URI, with at most
    /// 10 MB when decoded. Both alphabets of base64 are read, with or without padding, and white space is ignored.
    #[schema(nullable)]
    pub(crate) content_base64: Option<Text>,
    /// Your identifier of the item. Events and the status contain it.
    #[schema(nullable, max_length = 1_024)]
    pub(crate) app_media_id: Option<Text>,
    /// The rule group to use instead of the site's.
    #[schema(nullable)]
    pub(crate) rule_group_id: Option<Text>,
    /// A JSON object that events and the status contain unchanged: at most 16 KiB, with objects and arrays nested
    /// at most 32 deep. The object itself counts as 1.
    #[schema(nullable)]
    pub(crate) metadata: Option<RawJson<HashMap<String, Value>>>,
}

impl SubmitRequest {
    /// The members that should be texts, except the key and the body.
    fn values(&self) -> [(&'static str, Option<&Text>); 4] {
        [
            ("content_url", self.content_url.as_ref()),
            ("content_base64", self.content_base64.as_ref()),
            ("app_media_id", self.app_media_id.as_ref()),
            ("rule_group_id", self.rule_group_id.as_ref()),
        ]
    }

    /// The members that should be texts and cannot be used. The body is only judged, so it can have been cut.
    pub(super) fn no_texts(&self) -> Vec<(&'static str, NoText)> {
        let body = (self.body == Some(Text::IsNot)).then_some(("body", NoText::OtherType));
        let values = self.values().into_iter().filter_map(|(name, text)| {
            let why = text?.whole().err()?;
            Some((name, why))
        });
        body.into_iter().chain(values).collect()
    }

    /// `no_texts` are those of this request.
    pub(super) fn raw<'a>(&'a self, no_texts: &'a [(&'static str, NoText)]) -> RawSubmission<'a> {
        let [content_url, content_base64, app_media_id, rule_group_id] = self
            .values()
            .map(|(_, text)| text.and_then(|text| text.whole().ok()));
        RawSubmission {
            body: self.body.as_ref().and_then(Text::as_str),
            content_url,
            content_base64,
            app_media_id,
            rule_group_id,
            metadata: self.metadata.as_ref().map(|metadata| &*metadata.json),
            no_texts,
        }
    }
}

/// The submission is stored and will be moderated, or is moderated already if the answer has waited for that.
#[derive(Serialize, Schema)]
pub(crate) struct Accepted {
    /// The media item's id.
    id: Uuid,
    /// `pending`, unless the request had `Prefer: wait` and the item was moderated in time. Then it is the status, as
    /// `get-media-status` answers it.
    status: String,
    /// A message for people.
    message: String,
    /// What to do with the item: `approve` (show it), `block` (do not show it) or `review` (wait for a moderator).
    /// Only given if the item was moderated in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    /// The reasons, as in the event `media.moderated`. Only given if the item was moderated in time.
    #[serde(rename = "moderationResult", skip_serializing_if = "Option::is_none")]
    moderation_result: Option<RawJson<ModerationDetails>>,
}

impl Accepted {
    /// The item is stored.
    pub(super) fn pending(id: MediaId) -> Self {
        Self {
            id: id.as_uuid(),
            status: Status::Pending.as_str().to_owned(),
            message: "Accepted for moderation.".to_owned(),
            action: None,
            moderation_result: None,
        }
    }

    /// The item has a verdict.
    pub(super) fn decided(verdict: Verdict) -> Self {
        let Verdict {
            media,
            status,
            vocabulary,
            details,
        } = verdict;
        Self {
            id: media.as_uuid(),
            status: status.spelled(vocabulary).to_owned(),
            message: "Moderated.".to_owned(),
            action: status.action().map(|action| action.as_str().to_owned()),
            moderation_result: details.map(RawJson::from),
        }
    }
}
