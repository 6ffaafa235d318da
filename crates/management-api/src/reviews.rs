//! Reviews: claim, look, renew, skip, escalate, decide, undo.

mod bulk;
mod items;
mod reports;
mod schemas;

use api_common::{Code, Json, JsonBody, NoContent, Path, Refusal};
use domain::{id::ReviewId, review::NoteText, scope::Scope};
use management::reviews;
use poem_openapi::OpenApi;
use serde_json::{Value, json};

use self::{
    items::{NewNote, WrittenNote},
    schemas::{
        ClaimedReviews, HeldDecision, Lease, NewClaim, NewEscalation, NewReviewDecision, Review,
        WaitingReviews,
    },
};
use super::{Caller, Operation, Tag, example_values, media::PreviewFile};

/// The operations, noun by noun.
pub(super) type Nouns = (
    Reviews,
    reports::ReviewReports,
    items::ReviewedItems,
    bulk::BulkDecisions,
);

#[derive(Default)]
pub(crate) struct Reviews;

#[OpenApi(tag = "Tag::Reviews")]
impl Reviews {
    /// Claim reviews
    ///
    /// Returns the reviews that the caller has, and if these are fewer than `limit`, the most urgent ones that nobody has.
    /// They are the caller's for 5 minutes: nobody else gets them. Then they are free again, unless the caller renews them.
    /// The order is that of the desk: the most severe first, then what is due first. The caller never gets a review again
    /// that the caller has skipped or decided. Somebody with the scope `reviews:manage` gets first what waits for leads.
    /// Each token counts as one person.
    ///
    /// A review does not name its item. Ask for it while it is the caller's, and decide it by its own ID.
    #[oai(
        path = "/reviews/claim",
        method = "post",
        operation_id = "claimReviews"
    )]
    async fn claim_reviews(
        &self,
        caller: Caller,
        request: JsonBody<NewClaim>,
    ) -> Result<Json<ClaimedReviews>, Refusal> {
        let most = request.value.most();
        let shown = reviews::claim(&caller, most).await?;
        Ok(Json(ClaimedReviews::try_from(shown)?))
    }

    /// Count waiting reviews
    ///
    /// By site, severity and tier. Reviews that somebody has are counted, too. At most 100,000 are counted.
    #[oai(
        path = "/reviews/waiting",
        method = "get",
        operation_id = "countWaitingReviews"
    )]
    async fn count_waiting_reviews(&self, caller: Caller) -> Result<Json<WaitingReviews>, Refusal> {
        let waiting = reviews::waiting(&caller).await?;
        Ok(Json(waiting.into()))
    }

    /// Read a review
    ///
    /// Only a review that is the caller's.
    #[oai(
        path = "/reviews/:review_id",
        method = "get",
        operation_id = "getReview"
    )]
    async fn get_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<Json<Review>, Refusal> {
        let shown = reviews::get(&caller, review_id.0).await?;
        Ok(Json(Review::try_from(shown)?))
    }

    /// Get a preview of a review's image
    ///
    /// As `getMediaPreview`, for a review that is the caller's.
    #[oai(
        path = "/reviews/:review_id/preview",
        method = "get",
        operation_id = "getReviewPreview"
    )]
    async fn get_review_preview(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<PreviewFile, Refusal> {
        let preview = reviews::preview(&caller, review_id.0).await?;
        Ok(PreviewFile::new(review_id.0.as_uuid(), preview))
    }

    /// Renew a review
    ///
    /// Keeps a review for another 5 minutes. Call it while the person is active. A review can be kept for an hour in all.
    #[oai(
        path = "/reviews/:review_id/renew",
        method = "post",
        operation_id = "renewReview"
    )]
    async fn renew_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<Json<Lease>, Refusal> {
        let until = reviews::renew(&caller, review_id.0).await?;
        Ok(Json(Lease::new(review_id.0, until)))
    }

    /// Skip a review
    ///
    /// Leaves it to others: the caller does not get it again. After three people have skipped a review, it waits for the
    /// leads. A lead who skips a review that waits for leads gets it again after the others that are as severe.
    #[oai(
        path = "/reviews/:review_id/skip",
        method = "post",
        operation_id = "skipReview"
    )]
    async fn skip_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<NoContent, Refusal> {
        reviews::skip(&caller, review_id.0).await?;
        Ok(NoContent)
    }

    /// Escalate a review
    ///
    /// Passes it up to the leads, with a note for them.
    #[oai(
        path = "/reviews/:review_id/escalate",
        method = "post",
        operation_id = "escalateReview"
    )]
    async fn escalate_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
        request: JsonBody<NewEscalation>,
    ) -> Result<NoContent, Refusal> {
        let note: Option<NoteText> = request.value.into();
        reviews::escalate(&caller, review_id.0, note.as_ref()).await?;
        Ok(NoContent)
    }

    /// Write a note in a review
    ///
    /// About the item of a review that is the caller's, for the people of the team. No application reads it.
    #[oai(
        path = "/reviews/:review_id/notes",
        method = "post",
        operation_id = "createReviewNote"
    )]
    async fn create_review_note(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
        request: JsonBody<NewNote>,
    ) -> Result<Json<WrittenNote>, Refusal> {
        let text = request.value.into_text();
        let id = reviews::add_note(&caller, review_id.0, &text).await?;
        Ok(Json(WrittenNote::new(id.as_uuid())))
    }

    /// Count an unveiled picture
    ///
    /// Call it when the person uncovers the picture of a review. People can see how much they have seen, by day.
    #[oai(
        path = "/reviews/:review_id/unveil",
        method = "post",
        operation_id = "unveilReview"
    )]
    async fn unveil_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<NoContent, Refusal> {
        reviews::unveil(&caller, review_id.0).await?;
        Ok(NoContent)
    }

    /// Decide in a review
    ///
    /// The decision is held until `held_until`, for as long as the site allows to undo it (10 s by default). Nobody is told
    /// before. Then the application gets `media.moderated` as after `decideMedia`, or, if two people must agree, a second
    /// person is asked who does not know what the first one said. If somebody else has decided about the item by then,
    /// nothing is told.
    #[oai(
        path = "/reviews/:review_id/decision",
        method = "post",
        operation_id = "decideReview"
    )]
    async fn decide_review(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
        request: JsonBody<NewReviewDecision>,
    ) -> Result<Json<HeldDecision>, Refusal> {
        let new = request.value.into();
        let held = reviews::decide(&caller, review_id.0, new).await?;
        Ok(Json(held.into()))
    }

    /// Undo a decision in a review
    ///
    /// While it is held, and only by whoever made it. The review is the caller's again.
    #[oai(
        path = "/reviews/:review_id/decision",
        method = "delete",
        operation_id = "undoReviewDecision"
    )]
    async fn undo_review_decision(
        &self,
        caller: Caller,
        /// The review.
        review_id: Path<ReviewId>,
    ) -> Result<Json<Review>, Refusal> {
        let shown = reviews::undo(&caller, review_id.0).await?;
        Ok(Json(Review::try_from(shown)?))
    }
}

/// What refuses somebody who does not have the review.
const NOT_YOURS: &[Code] = &[Code::ReviewNotYours, Code::ReviewDecided];

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let mut operations = vec![
        Operation::new("claimReviews", Scope::MediaDecide)
            .request(json!({ "limit": 2 }))
            .answer(json!({ "data": [review()] })),
        Operation::new("countWaitingReviews", Scope::ReviewsRead)
            .answer(json!({ "data": [{
                "site_id": example_values::SITE,
                "severity": "high",
                "tier": "everybody",
                "reviews": 120,
                "overdue": 3,
                "oldest_waiting_since": example_values::CREATED_AT,
            }] })),
        Operation::new("getReview", Scope::MediaDecide)
            .answer(review()),
        Operation::new("getReviewPreview", Scope::MediaDecide)
            .problems(&[
                Code::ImageNotPreviewed,
                Code::PreviewTimedOut,
                Code::DarkroomUnavailable,
            ]),
        Operation::new("renewReview", Scope::MediaDecide)
            .problems(NOT_YOURS)
            .answer(
                json!({ "id": example_values::REVIEW, "leased_until": "2026-01-31T14:35:00.123456Z" }),
            ),
        Operation::new("skipReview", Scope::MediaDecide)
            .problems(NOT_YOURS),
        Operation::new("escalateReview", Scope::MediaDecide)
            .problems(&[
                Code::ReviewNotYours,
                Code::ReviewDecided,
                Code::ReviewEscalated,
            ])
            .request(json!({ "note": "The second sentence may be a quotation." })),
        Operation::new("createReviewNote", Scope::MediaDecide)
            .problems(NOT_YOURS)
            .request(note())
            .answer(json!({ "id": example_values::NOTE })),
        Operation::new("unveilReview", Scope::MediaDecide)
            .problems(NOT_YOURS),
        Operation::new("decideReview", Scope::MediaDecide)
            .problems(NOT_YOURS)
            .request(json!({ "decision": "reject", "policy_id": example_values::POLICY }))
            .answer(json!({
                "id": example_values::REVIEW,
                "decision": "reject",
                "held_until": "2026-01-31T14:30:10.123456Z",
            })),
        Operation::new("undoReviewDecision", Scope::MediaDecide)
            .problems(&[Code::ReviewUndecided, Code::ReviewTold])
            .answer(review()),
    ];
    operations.extend(reports::descriptions());
    operations.extend(about_items());
    operations.extend(bulk::descriptions(&review()));
    operations
}

/// The operations on items outside of reviews.
fn about_items() -> Vec<Operation> {
    vec![
        Operation::new("appealMedia", Scope::MediaAppeal)
            .problems(&[Code::StillPending, Code::StillInReview, Code::AppealOpen])
            .request(json!({ "text": "It is a line of a song." }))
            .answer(json!({
                "media_id": example_values::MEDIA,
                "status": "rejected",
                "due_at": "2026-01-31T16:00:00.123456Z",
            })),
        Operation::new("listMediaNotes", Scope::MediaRead).answer(json!({ "data": [{
                "id": example_values::NOTE,
                "by": example_values::PERSON,
                "name": "Ada",
                "text": note()["text"],
                "written_at": example_values::CREATED_AT,
            }] })),
        Operation::new("createMediaNote", Scope::MediaDecide)
            .request(note())
            .answer(json!({ "id": example_values::NOTE })),
        Operation::new("listRelatedMedia", Scope::MediaRead)
            .answer(json!({ "data": [], "next_cursor": null })),
        Operation::new("setGoldenMedia", Scope::ReviewsManage)
            .problems(&[Code::StillInReview, Code::NeverInReview])
            .request(json!({ "expected": "reject" })),
        Operation::new("unsetGoldenMedia", Scope::ReviewsManage),
        Operation::new("listGoldenMedia", Scope::ReviewsManage).answer(example_values::list(
            &json!({
                "media_id": example_values::MEDIA,
                "site_id": example_values::SITE,
                "expected": "reject",
                "added_by": example_values::PERSON,
                "added_at": example_values::CREATED_AT,
            }),
        )),
    ]
}

fn note() -> Value {
    json!({ "text": "The same picture as last week." })
}

fn review() -> Value {
    json!({
        "id": example_values::REVIEW,
        "site_id": example_values::SITE,
        "site_name": "Community forum",
        "kind": "review",
        "severity": "high",
        "tier": "everybody",
        "waiting_since": example_values::CREATED_AT,
        "due_at": "2026-01-31T16:00:00.123456Z",
        "leased_until": "2026-01-31T14:35:00.123456Z",
        "content_type": "text",
        "body": "You people should all leave.",
        "content_url": null,
        "image": null,
        "has_preview": false,
        "metadata": { "user": { "id": "u-81" } },
        "author": "u-81",
        "author_history": { "approved": 11, "rejected": 2, "pending_review": 0 },
        "details": {
            "rule_violations": [{
                "rule_id": example_values::RULE,
                "rule_name": "hate",
                "rule_type": "ai_threshold",
                "confidence": 0.62,
                "details": "The score for hate is 0.62, and 0.5 asks for review.",
            }],
            "ai_analysis": { "hate": 0.62 },
            "processing_time_ms": 431,
            "reason": "the rule hate asks for review",
            "flagged_categories": ["hate"],
        },
        "trace": { "unchecked": [] },
        "suggested_policy_ids": [example_values::POLICY],
        "notes": [],
        "earlier": [],
    })
}
