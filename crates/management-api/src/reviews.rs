//! Reviews: claim, look, renew, skip, escalate, decide, undo.

mod bulk;
mod items;
mod openapi;
mod reports;
mod schemas;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    response::{Json, NoContent},
};
use domain::{id::ReviewId, review::NoteText};
use management::reviews;
use poem_openapi::OpenApi;

use super::{Tag, caller::Caller, media::PreviewFile};
use items::{NewNote, WrittenNote};
use schemas::{
    ClaimedReviews, HeldDecision, Lease, NewClaim, NewEscalation, NewReviewDecision, Review,
    WaitingReviews,
};

pub(super) use openapi::descriptions;

/// The operations, noun by noun.
pub(super) type Nouns = (
    Reviews,
    reports::ReviewReports,
    items::ReviewedItems,
    bulk::BulkDecisions,
);

pub(super) fn nouns() -> Nouns {
    (
        Reviews,
        reports::ReviewReports,
        items::ReviewedItems,
        bulk::BulkDecisions,
    )
}

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
        let shown = reviews::claim(&caller.management, &caller, most).await?;
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
        let waiting = reviews::waiting(&caller.management, &caller).await?;
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
        let shown = reviews::get(&caller.management, &caller, review_id.0).await?;
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
        let preview = reviews::preview(&caller.management, &caller, review_id.0).await?;
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
        let until = reviews::renew(&caller.management, &caller, review_id.0).await?;
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
        reviews::skip(&caller.management, &caller, review_id.0).await?;
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
        reviews::escalate(&caller.management, &caller, review_id.0, note.as_ref()).await?;
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
        let id = reviews::add_note(&caller.management, &caller, review_id.0, &text).await?;
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
        reviews::unveil(&caller.management, &caller, review_id.0).await?;
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
        let held = reviews::decide(&caller.management, &caller, review_id.0, new).await?;
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
        let shown = reviews::undo(&caller.management, &caller, review_id.0).await?;
        Ok(Json(Review::try_from(shown)?))
    }
}
