//! Media: list, read, look at the image, decide.

mod decision;
mod history;
mod image;
mod item;
mod list;

use std::sync::Arc;

use domain::{id::MediaId, media::Status, scope::Scope};
use management::{Management, media};
use poem::web::Data;
use poem_openapi::OpenApi;
use store::media::Filter;
use uuid::Uuid;

pub(super) use self::history::without_internals;
use self::{
    decision::{Decided, NewDecision},
    image::ImageFile,
    item::MediaItem,
    list::{AppMediaId, ListedMedia},
};
use super::{
    Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
};
use crate::{
    answer::Json,
    member::Time,
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

pub(crate) struct Media;

#[OpenApi(tag = "Tag::Media")]
impl Media {
    /// List media
    ///
    /// The newest first. A part of a list looks at 5,000 items at most, so with `status`, `since` or
    /// `until` it may have fewer than `limit`, even none, although more follow: go on as long as there is a
    /// `next_cursor`. What waits for a moderator (`status=pending_review`) and what has an `app_media_id` is found
    /// directly.
    #[oai(path = "/media", method = "get", operation_id = "listMedia")]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_media(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// Only media of this site.
        site_id: Query<Uuid>,
        /// Only media that stand so.
        status: Query<Status>,
        /// Only what was accepted at this time or later.
        since: Query<Time>,
        /// Only what was accepted before this time.
        until: Query<Time>,
        /// Only media to which the application gave this identifier.
        app_media_id: Query<AppMediaId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<ListedMedia>>, Refusal> {
        let filter = Filter {
            site: site_id.0.map(Into::into),
            status: status.0,
            since: since.0.map(|time| time.0),
            until: until.0.map(|time| time.0),
            app_media_id: app_media_id.0.map(|id| id.0),
        };
        let part = Part::new(&limit, &cursor);
        let after = part.after().map(MediaId::from);
        let page = media::list(&management, &caller, &filter, after, part.limit()).await?;
        Ok(Json(
            part.list_to(page.media, page.next.map(MediaId::as_uuid)),
        ))
    }

    /// Read a media item
    ///
    /// What was submitted and everything that became of it: what the providers said, every verdict with how it came to be,
    /// and how far its events have got.
    #[oai(path = "/media/:media_id", method = "get", operation_id = "getMedia")]
    async fn get_media(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<Json<MediaItem>, Refusal> {
        let item = media::get(&management, &caller, media_id.0).await?;
        Ok(Json(item.try_into()?))
    }

    /// Get a media item's inline image
    ///
    /// The image as it was submitted in `content_base64`, as long as it is kept. It comes from strangers: the answer says
    /// that it is to be saved rather than shown, and by its first bytes what it is.
    #[oai(
        path = "/media/:media_id/image",
        method = "get",
        operation_id = "getMediaImage"
    )]
    async fn get_media_image(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<ImageFile, Refusal> {
        let image = media::image(&management, &caller, media_id.0).await?;
        Ok(ImageFile::new(image))
    }

    /// Decide about a media item
    ///
    /// A moderator approves or rejects what waits for a review, or overturns an earlier verdict. The application hears of
    /// it by `media.moderated` with the `moderation_type` `manual`, the reason in `moderation_details`, and where the item
    /// stood before in `previous_status`. Of two decisions at once one is refused with `media_changed`. Whoever names in
    /// `expected_status` what the moderator saw never overturns unseen what somebody else decided meanwhile.
    #[oai(
        path = "/media/:media_id/decision",
        method = "post",
        operation_id = "decideMedia"
    )]
    async fn decide_media(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
        request: JsonBody<NewDecision>,
    ) -> Result<Json<Decided>, Refusal> {
        let decision = request.value.into();
        let decided = media::decide(&management, &caller, media_id.0, decision).await?;
        Ok(Json(decided.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example::list(&list::example())),
            ..Operation::new("listMedia", Scope::MediaRead)
        },
        Operation {
            answer: Some(item::example()),
            ..Operation::new("getMedia", Scope::MediaRead)
        },
        Operation::new("getMediaImage", Scope::MediaRead),
        Operation {
            problems: &[Code::StillPending, Code::AlreadyDecided, Code::MediaChanged],
            request: Some(decision::example_request()),
            answer: Some(decision::example()),
            ..Operation::new("decideMedia", Scope::MediaDecide)
        },
    ]
}
