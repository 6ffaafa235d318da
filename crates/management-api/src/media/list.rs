//! A media item in a list.

use std::str::FromStr;

use api_common::{Described, Field, Schema, Time};
use domain::{
    media::{ContentType, ModerationType, Status},
    submission::MAX_APP_MEDIA_ID,
};
use poem_openapi::registry::MetaSchema;
use serde::Serialize;
use serde_json::{Value, json};
use store::media::Listed;
use uuid::Uuid;

use crate::example_values;

/// A media item, in short.
#[derive(Serialize, Schema)]
pub(crate) struct ListedMedia {
    /// The item.
    id: Uuid,
    /// The site that owns it.
    site_id: Uuid,
    /// The application's own identifier.
    #[schema(nullable)]
    app_media_id: Option<String>,
    /// Its author, from its metadata. `null` if its site had no `author_pointer` when it was accepted, or if it led nowhere.
    #[schema(nullable)]
    author: Option<String>,
    /// `image` if it has an image, otherwise `text`.
    content_type: Field<ContentType>,
    /// Its status.
    status: Field<Status>,
    /// The number of the verdict in force, for `expected_verdict`. `null` while it is pending.
    #[schema(nullable)]
    verdict: Option<i16>,
    /// Who or what decided last. `null` while it is pending.
    #[schema(nullable)]
    moderation_type: Option<Field<ModerationType>>,
    /// Whether something of the item was not checked, and no person has decided since.
    unchecked: bool,
    /// When it was accepted.
    created_at: Field<Time>,
    /// When it was decided last. `null` while it is pending.
    #[schema(nullable)]
    moderated_at: Option<Field<Time>>,
}

impl From<Listed> for ListedMedia {
    fn from(listed: Listed) -> Self {
        Self {
            id: listed.media.as_uuid(),
            site_id: listed.site.as_uuid(),
            app_media_id: listed.app_media_id,
            author: listed.author,
            content_type: Field(listed.content_type),
            status: Field(listed.status),
            verdict: listed.verdict,
            moderation_type: listed.moderation_type.map(Field),
            unchecked: listed.is_unchecked,
            created_at: listed.created_at.into(),
            moderated_at: listed.moderated_at.map(Field::from),
        }
    }
}

/// The identifier of an item that an application chose.
pub(crate) struct AppMediaId(pub(crate) String);

/// The text is too long, or has characters that are never stored.
pub(crate) struct InvalidAppMediaId;

impl FromStr for AppMediaId {
    type Err = InvalidAppMediaId;

    fn from_str(text: &str) -> Result<Self, InvalidAppMediaId> {
        if text.contains('\0') || text.chars().count() > MAX_APP_MEDIA_ID {
            return Err(InvalidAppMediaId);
        }
        Ok(Self(text.to_owned()))
    }
}

impl Described for AppMediaId {
    fn expected() -> String {
        format!("a text of at most {MAX_APP_MEDIA_ID} characters, none of them NUL")
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(MAX_APP_MEDIA_ID),
            pattern: Some(r"^[^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

/// An item that waits for a moderator.
pub(super) fn example() -> Value {
    json!({
        "id": example_values::MEDIA,
        "site_id": example_values::SITE,
        "app_media_id": "comment-4711",
        "author": "u-17",
        "content_type": "text",
        "status": "pending_review",
        "verdict": 1,
        "moderation_type": "rule",
        "unchecked": false,
        "created_at": example_values::CREATED_AT,
        "moderated_at": "2026-01-31T12:00:00.523456Z",
    })
}
