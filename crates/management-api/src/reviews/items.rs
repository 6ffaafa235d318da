//! What people say about an item outside of a review: appeals, notes, the right decision.

use api_common::{Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time, given};
use domain::{
    id::MediaId,
    media::{Ruling, Status},
    review::NoteText,
};
use management::{
    media::{self, Appealed},
    reviews::{self, GoldenItem},
};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    super::{Tag, media::ListedMedia},
    schemas::ReviewNote,
};
use crate::{After, Caller, Limit, List, Part};

/// An appeal against an item's verdict.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAppeal {
    /// What the person who appeals says. Whoever reviews the item reads it.
    #[serde(default, deserialize_with = "given")]
    text: Option<Field<NoteText>>,
}

/// An appeal that waits for a person.
#[derive(Serialize, Schema)]
pub(super) struct Appeal {
    /// The item.
    media_id: Uuid,
    /// Its status. It stays until somebody decides otherwise.
    status: Field<Status>,
    /// When somebody should have looked.
    due_at: Field<Time>,
}

impl From<Appealed> for Appeal {
    fn from(appealed: Appealed) -> Self {
        Self {
            media_id: appealed.media.as_uuid(),
            status: Field(appealed.status),
            due_at: appealed.due_at.into(),
        }
    }
}

/// A note to write.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewNote {
    /// The text. Only people of the team can read it.
    text: Field<NoteText>,
}

impl NewNote {
    pub(super) fn into_text(self) -> NoteText {
        self.text.0
    }
}

/// A note that was written.
#[derive(Serialize, Schema)]
pub(super) struct WrittenNote {
    /// The note.
    id: Uuid,
}

impl WrittenNote {
    pub(super) fn new(id: Uuid) -> Self {
        Self { id }
    }
}

/// The notes about an item.
#[derive(Serialize, Schema)]
pub(super) struct Notes {
    /// The last 100, oldest first.
    data: Vec<ReviewNote>,
}

/// The right decision about an item.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGoldenItem {
    /// What people should decide.
    expected: Field<Ruling>,
}

/// An item whose right decision is known.
#[derive(Serialize, Schema)]
pub(super) struct GoldenMedia {
    /// The item.
    media_id: Uuid,
    /// Its site.
    site_id: Uuid,
    /// What people should decide.
    expected: Field<Ruling>,
    /// Who says so: a person or a token.
    added_by: Uuid,
    /// Since when.
    added_at: Field<Time>,
}

impl From<GoldenItem> for GoldenMedia {
    fn from(item: GoldenItem) -> Self {
        Self {
            media_id: item.media.as_uuid(),
            site_id: item.site.as_uuid(),
            expected: Field(item.expected),
            added_by: item.added_by.as_uuid(),
            added_at: item.added_at.into(),
        }
    }
}

#[derive(Default)]
pub(crate) struct ReviewedItems;

#[OpenApi(tag = "Tag::Reviews")]
impl ReviewedItems {
    /// Appeal against a verdict
    ///
    /// Asks that somebody who has not decided about the item looks at it again. The verdict stays in force meanwhile. If it
    /// is overturned, the application gets `media.moderated` as after `decideMedia`. Otherwise nothing is sent.
    #[oai(
        path = "/media/:media_id/appeal",
        method = "post",
        operation_id = "appealMedia"
    )]
    async fn appeal_media(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
        request: JsonBody<NewAppeal>,
    ) -> Result<Json<Appeal>, Refusal> {
        let words = request.value.text.map(|text| text.0);
        let appealed = media::appeal(&caller, media_id.0, words.as_ref()).await?;
        Ok(Json(appealed.into()))
    }

    /// List notes about a media item
    #[oai(
        path = "/media/:media_id/notes",
        method = "get",
        operation_id = "listMediaNotes"
    )]
    async fn list_media_notes(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<Json<Notes>, Refusal> {
        let notes = reviews::notes_of(&caller, media_id.0).await?;
        Ok(Json(Notes {
            data: notes.into_iter().map(ReviewNote::from).collect(),
        }))
    }

    /// Write a note about a media item
    ///
    /// For the people of the team. No application reads it.
    #[oai(
        path = "/media/:media_id/notes",
        method = "post",
        operation_id = "createMediaNote"
    )]
    async fn create_media_note(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
        request: JsonBody<NewNote>,
    ) -> Result<Json<WrittenNote>, Refusal> {
        let text = request.value.into_text();
        let id = reviews::add_note_to(&caller, media_id.0, &text).await?;
        Ok(Json(WrittenNote::new(id.as_uuid())))
    }

    /// List media of the same author
    ///
    /// The last 50 other items by the item's author at the same site, newest first. None if the item has no author.
    #[oai(
        path = "/media/:media_id/related",
        method = "get",
        operation_id = "listRelatedMedia"
    )]
    async fn list_related_media(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<Json<List<ListedMedia>>, Refusal> {
        let related = media::related(&caller, media_id.0).await?;
        Ok(Json(List::whole(related)))
    }

    /// Say what the right decision about a media item is
    ///
    /// Moderators of its site get the item among others, now and then, if the site's desk settings have `golden_every`.
    /// They are not told that the answer is known, neither before nor afterwards.
    #[oai(
        path = "/media/:media_id/golden",
        method = "put",
        operation_id = "setGoldenMedia"
    )]
    async fn set_golden_media(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
        request: JsonBody<NewGoldenItem>,
    ) -> Result<NoContent, Refusal> {
        let expected = request.value.expected.0;
        reviews::set_golden(&caller, media_id.0, expected).await?;
        Ok(NoContent)
    }

    /// Take back what the right decision about a media item is
    ///
    /// Nobody gets the item for that any more.
    #[oai(
        path = "/media/:media_id/golden",
        method = "delete",
        operation_id = "unsetGoldenMedia"
    )]
    async fn unset_golden_media(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<NoContent, Refusal> {
        reviews::unset_golden(&caller, media_id.0).await?;
        Ok(NoContent)
    }

    /// List media whose right decision is known
    ///
    /// In the order in which they were accepted.
    #[oai(
        path = "/golden-media",
        method = "get",
        operation_id = "listGoldenMedia"
    )]
    async fn list_golden_media(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<GoldenMedia>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let items = reviews::golden_items(&caller, part.page()).await?;
        Ok(Json(part.list(items, |item| item.media.as_uuid())))
    }
}
