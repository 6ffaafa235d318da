//! Media: list, read, get the image, decide.

mod history;
mod image;
mod item;
mod list;

use api_common::{Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given};
use domain::{
    author::Author,
    id::{MediaId, RuleId},
    media::{ModerationType, Ruling, Seen, Status, VerdictNumber},
    reason::Reason,
    scope::Scope,
    score::Category,
};
use management::media;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::media::Filter;
use uuid::Uuid;

use self::{image::ImageFile, item::MediaItem, list::AppMediaId};
use super::{After, Caller, Limit, List, Operation, Part, Tag, example_values};

pub(super) use self::{
    history::without_internals, image::PreviewFile, item::MediaImage, list::ListedMedia,
};

#[derive(Default)]
pub(crate) struct Media;

#[OpenApi(tag = "Tag::Media")]
impl Media {
    /// List media
    ///
    /// Newest first. All parameters can be combined. One page looks at 5,000 items at most. With `status`, `since`, `until`,
    /// `rule_id` or `category`, a page may therefore hold fewer than `limit` items, or none, although more follow: continue
    /// as long as there is a `next_cursor`. Items that wait for a moderator (`status=pending_review`), `app_media_id` and
    /// `author` are looked up directly. Of these, too, a page looks at 5,000 at most.
    #[oai(path = "/media", method = "get", operation_id = "listMedia")]
    #[expect(clippy::too_many_arguments, reason = "one for each parameter")]
    async fn list_media(
        &self,
        caller: Caller,
        /// Only media of this site.
        site_id: Query<Uuid>,
        /// Only media with this status.
        status: Query<Status>,
        /// Only media accepted at this time or later.
        since: Query<Time>,
        /// Only media accepted before this time.
        until: Query<Time>,
        /// Only media with this identifier of the application's.
        app_media_id: Query<AppMediaId>,
        /// Only media by this author. Their site had an `author_pointer` when they were accepted.
        author: Query<Author>,
        /// Only media that this rule matched when the machine judged them, whether or not its effect was the verdict and
        /// whatever was decided later. It may be a rule of an earlier version.
        rule_id: Query<RuleId>,
        /// Only media that a rule matched because of a score of this category when the machine judged them, whatever was
        /// decided later. Together with `rule_id`: that rule.
        category: Query<Category>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<ListedMedia>>, Refusal> {
        let filter = Filter {
            site: site_id.0.map(Into::into),
            status: status.0,
            since: since.0.map(|time| time.0),
            until: until.0.map(|time| time.0),
            app_media_id: app_media_id.0.map(|id| id.0),
            author: author.0,
            rule: rule_id.0,
            category: category.0,
        };
        let part = Part::new(&limit, &cursor);
        let after = part.after().map(MediaId::from);
        let page = media::list(&caller, &filter, after, part.limit()).await?;
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
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<Json<MediaItem>, Refusal> {
        let item = media::get(&caller, media_id.0).await?;
        Ok(Json(item.try_into()?))
    }

    /// Get a media item's inline image
    ///
    /// The image as it was submitted in `content_base64`, as long as it is kept. It comes from strangers, so the answer
    /// tells browsers to save it and not to show it. The content type is that of its first bytes.
    #[oai(
        path = "/media/:media_id/image",
        method = "get",
        operation_id = "getMediaImage"
    )]
    async fn get_media_image(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<ImageFile, Refusal> {
        let image = media::image(&caller, media_id.0).await?;
        Ok(ImageFile::new(image))
    }

    /// Get a preview of a media item's image
    ///
    /// A JPEG of at most 640 pixels a side, which Gatehouse draws anew: upright, the first frame of an animation, white
    /// behind transparent pixels, and without metadata. The image is decoded by a process of its own that has nothing but the
    /// file. Only images that are stored have a preview: those sent inline, and those fetched from a URL, until the retention
    /// of their site removes them. A team uses at most half of the memory for previews; further requests wait up to 8 s, and
    /// are then refused with `overloaded`.
    #[oai(
        path = "/media/:media_id/preview",
        method = "get",
        operation_id = "getMediaPreview"
    )]
    async fn get_media_preview(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
    ) -> Result<PreviewFile, Refusal> {
        let preview = media::preview(&caller, media_id.0).await?;
        Ok(PreviewFile::new(media_id.0.as_uuid(), preview))
    }

    /// Decide about a media item
    ///
    /// A moderator approves or rejects an item that waits for review, or overturns an earlier verdict. The application gets
    /// `media.moderated` with the `moderation_type` `manual`, the reason in `moderation_details`, and the item's earlier
    /// status in `previous_status`. If two decisions arrive at once, one is refused with `media_changed`. Send the
    /// `verdict` that the moderator saw as `expected_verdict`: then nobody overturns by accident what somebody else decided
    /// meanwhile, and such a decision is refused with `verdict_changed`. `expected_status` compares only the status.
    #[oai(
        path = "/media/:media_id/decision",
        method = "post",
        operation_id = "decideMedia"
    )]
    async fn decide_media(
        &self,
        caller: Caller,
        /// The item.
        media_id: Path<MediaId>,
        request: JsonBody<NewDecision>,
    ) -> Result<Json<Decided>, Refusal> {
        let decision = request.value.into();
        let decided = media::decide(&caller, media_id.0, decision).await?;
        Ok(Json(decided.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("listMedia", Scope::MediaRead)
            .answer(example_values::list(&list::example())),
        Operation::new("getMedia", Scope::MediaRead).answer(item::example()),
        Operation::new("getMediaImage", Scope::MediaRead),
        Operation::new("getMediaPreview", Scope::MediaRead).problems(&[
            Code::ImageNotPreviewed,
            Code::PreviewTimedOut,
            Code::DarkroomUnavailable,
        ]),
        Operation::new("decideMedia", Scope::MediaDecide)
            .problems(&[
                Code::StillPending,
                Code::AlreadyDecided,
                Code::MediaChanged,
                Code::VerdictChanged,
            ])
            .request(decision_example())
            .answer(decided_example()),
    ]
}

/// A moderator's decision.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// Whether the item may be displayed.
    decision: Field<Ruling>,
    /// The reason. The application can read it.
    reason: Field<Reason>,
    /// The item's status when the moderator looked at it. If it has another status by now, nothing is decided.
    #[serde(default, deserialize_with = "given")]
    expected_status: Option<Field<Status>>,
    /// The item's `verdict` when the moderator looked at it. If another verdict is in force by now, nothing is decided.
    /// This is stricter than `expected_status`: an item can get the same status again, but never the same number.
    #[serde(default, deserialize_with = "given")]
    expected_verdict: Option<Field<VerdictNumber>>,
}

/// A decision that is in force.
#[derive(Serialize, Schema)]
pub(crate) struct Decided {
    /// The item.
    media_id: Uuid,
    /// Its status now.
    status: Field<Status>,
    /// Its status before.
    previous_status: Field<Status>,
    /// Always `manual`.
    moderation_type: Field<ModerationType>,
    /// When it was decided.
    moderated_at: Field<Time>,
    /// The number of this verdict. An item's verdicts count from 1.
    verdict: u16,
}

impl From<NewDecision> for media::NewDecision {
    fn from(new: NewDecision) -> Self {
        Self {
            ruling: new.decision.0,
            reason: new.reason.0,
            seen: Seen {
                status: new.expected_status.map(|status| status.0),
                verdict: new.expected_verdict.map(|verdict| verdict.0),
            },
        }
    }
}

impl From<media::Decided> for Decided {
    fn from(decided: media::Decided) -> Self {
        let step = decided.step;
        Self {
            media_id: decided.media.as_uuid(),
            status: Field(step.to()),
            previous_status: Field(step.from().status),
            moderation_type: Field(ModerationType::Manual),
            moderated_at: decided.moderated_at.into(),
            verdict: step.number(),
        }
    }
}

fn decision_example() -> Value {
    json!({
        "decision": "approve",
        "reason": "Satire, clearly marked as such.",
        "expected_verdict": 1,
    })
}

fn decided_example() -> Value {
    json!({
        "media_id": example_values::MEDIA,
        "status": "approved",
        "previous_status": "pending_review",
        "moderation_type": "manual",
        "moderated_at": "2026-01-31T14:30:00.123456Z",
        "verdict": 2,
    })
}
