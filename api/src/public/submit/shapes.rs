//! The body of a submission and its answer.

use std::collections::HashMap;

use domain::{id::MediaId, media::Status, submission::RawSubmission};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{raw::Raw, text::Text};

/// A submission: a text, an image, or both. Unknown fields are ignored. Null, an empty text, an empty URL and an
/// empty image count as not given. No value may contain the character U+0000.
#[derive(Default, Deserialize, Object)]
pub(crate) struct SubmitRequest {
    /// The site key: `site_` followed by a run of characters.
    pub(super) api_key: Option<Text>,
    /// The text to moderate: at most 100 KB (102,400 bytes of UTF-8).
    #[oai(nullable, validator(max_length = 102_400))]
    pub(super) body: Option<Text>,
    /// The image's http or https URL. The image must be JPEG, PNG, GIF or WebP, with at most 10 MB.
    #[oai(nullable, validator(max_length = 8_192))]
    pub(super) content_url: Option<Text>,
    /// The image itself, instead of `content_url`: base64, plain or as a `data:image/...;base64,` URI, with at most
    /// 10 MB when decoded.
    #[oai(nullable)]
    pub(super) content_base64: Option<Text>,
    /// Your identifier of the item. Events and the status contain it.
    #[oai(nullable, validator(max_length = 1_024))]
    pub(super) app_media_id: Option<Text>,
    /// The rule group to use instead of the site's.
    #[oai(nullable)]
    pub(super) rule_group_id: Option<Text>,
    /// A JSON object that events and the status contain unchanged: at most 16 KiB, with objects and arrays nested
    /// at most 32 deep. The object itself counts as 1.
    #[oai(nullable)]
    pub(super) metadata: Option<Raw<HashMap<String, Value>>>,
}

impl SubmitRequest {
    /// The members that should be texts, except the key.
    pub(super) fn texts(&self) -> [(&'static str, Option<&Text>); 5] {
        [
            ("body", self.body.as_ref()),
            ("content_url", self.content_url.as_ref()),
            ("content_base64", self.content_base64.as_ref()),
            ("app_media_id", self.app_media_id.as_ref()),
            ("rule_group_id", self.rule_group_id.as_ref()),
        ]
    }

    /// `no_texts` names the members that should be texts but are not.
    pub(super) fn raw<'a>(&'a self, no_texts: &'a [&'static str]) -> RawSubmission<'a> {
        let [
            body,
            content_url,
            content_base64,
            app_media_id,
            rule_group_id,
        ] = self.texts().map(|(_, text)| text.and_then(Text::as_str));
        RawSubmission {
            body,
            content_url,
            content_base64,
            app_media_id,
            rule_group_id,
            metadata: self.metadata.as_ref().map(|metadata| &*metadata.json),
            no_texts,
        }
    }
}

/// The submission is stored and will be moderated.
#[derive(Serialize, Object)]
pub(crate) struct Accepted {
    /// The media item's id.
    id: Uuid,
    /// Always `pending`.
    status: String,
    /// A message for people.
    message: String,
}

pub(super) fn accepted(id: MediaId) -> Accepted {
    Accepted {
        id: id.as_uuid(),
        status: Status::Pending.as_str().to_owned(),
        message: "Accepted for moderation.".to_owned(),
    }
}
