//! Bulk decisions: preview, start, watch, undo.

mod schemas;

use api_common::{Accepted, Code, Json, JsonBody, Path, Query, Refusal};
use domain::{id::BulkDecisionId, scope::Scope};
use management::reviews::bulk;
use poem_openapi::OpenApi;
use serde_json::{Value, json};

use self::schemas::{BulkDecision, BulkPreview, NewBulkDecision, NewReviewFilter};
use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct BulkDecisions;

#[OpenApi(tag = "Tag::Reviews")]
impl BulkDecisions {
    /// Preview a bulk decision
    ///
    /// Counts the reviews that match and that nobody has, and shows the 50 most urgent ones. Look at them before you decide
    /// about all of them. The most urgent 100,000 reviews of the team are looked at.
    #[oai(
        path = "/reviews/bulk/preview",
        method = "post",
        operation_id = "previewBulkDecision"
    )]
    async fn preview_bulk_decision(
        &self,
        caller: Caller,
        request: JsonBody<NewReviewFilter>,
    ) -> Result<Json<BulkPreview>, Refusal> {
        let filter = request.value.into();
        let preview = bulk::preview(&caller, &filter).await?;
        Ok(Json(BulkPreview::try_from(preview)?))
    }

    /// Decide about many reviews
    ///
    /// Give either `review_ids`, for at most 500 reviews that you have looked at, or `filter` with the `count` of its
    /// preview. If more match by now, nothing is decided. The reviews are chosen at once, so what comes later is not among
    /// them, and decided in the background. A review that somebody has then is skipped, and so is one that has ended.
    ///
    /// Each decision is held as after `decideReview`, for as long as the site allows to undo it. It is a lead's word, so it
    /// is final where two people must agree. A team has at most one bulk decision that runs.
    #[oai(
        path = "/reviews/bulk",
        method = "post",
        operation_id = "createBulkDecision"
    )]
    async fn create_bulk_decision(
        &self,
        caller: Caller,
        request: JsonBody<NewBulkDecision>,
    ) -> Result<Accepted<BulkDecision>, Refusal> {
        let (new, meant) = request.value.read()?;
        let made = bulk::create(&caller, new, &meant).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/reviews/bulk/{}", made.id),
            made,
        ))
    }

    /// List bulk decisions
    ///
    /// Newest first. Bulk decisions are kept for 90 days.
    #[oai(
        path = "/reviews/bulk",
        method = "get",
        operation_id = "listBulkDecisions"
    )]
    async fn list_bulk_decisions(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<BulkDecision>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = bulk::list(&caller, part.page()).await?;
        Ok(Json(part.list(found, |made| made.id.as_uuid())))
    }

    /// Read a bulk decision
    ///
    /// Shows how far it has got.
    #[oai(
        path = "/reviews/bulk/:bulk_decision_id",
        method = "get",
        operation_id = "getBulkDecision"
    )]
    async fn get_bulk_decision(
        &self,
        caller: Caller,
        /// The bulk decision.
        bulk_decision_id: Path<BulkDecisionId>,
    ) -> Result<Json<BulkDecision>, Refusal> {
        let found = bulk::get(&caller, bulk_decision_id.0).await?;
        Ok(Json(found.into()))
    }

    /// Undo a bulk decision
    ///
    /// Stops what has not been decided yet, and undoes the decisions that are still held: their reviews wait again. What was
    /// told stays. `undone` says how many decisions were undone.
    #[oai(
        path = "/reviews/bulk/:bulk_decision_id",
        method = "delete",
        operation_id = "undoBulkDecision"
    )]
    async fn undo_bulk_decision(
        &self,
        caller: Caller,
        /// The bulk decision.
        bulk_decision_id: Path<BulkDecisionId>,
    ) -> Result<Json<BulkDecision>, Refusal> {
        let undone = bulk::cancel(&caller, bulk_decision_id.0).await?;
        Ok(Json(undone.into()))
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions(review: &Value) -> Vec<Operation> {
    let bulk = json!({
        "id": example_values::BULK_DECISION,
        "decision": "reject",
        "policy_id": example_values::POLICY,
        "reason": "It advertises something.",
        "filter": { "site_id": null, "severity": null, "policy_id": null, "category": null, "rule": "links", "author": null },
        "total": 420,
        "done": 200,
        "skipped": 3,
        "undone": 0,
        "state": "running",
        "error": null,
        "created_by": example_values::PERSON,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation::new("previewBulkDecision", Scope::ReviewsManage)
            .request(json!({ "severity": "low", "rule": "links" }))
            .answer(json!({
                "count": 420,
                "is_too_many": false,
                "data": [{ "media_id": example_values::MEDIA, "review": review }],
            })),
        Operation::new("createBulkDecision", Scope::ReviewsManage)
            .problems(&[Code::BulkDecisionRunning, Code::MoreReviewsMatch])
            .request(json!({
                "decision": "reject",
                "policy_id": example_values::POLICY,
                "review_ids": [example_values::REVIEW],
            }))
            .answer(bulk.clone()),
        Operation::new("listBulkDecisions", Scope::ReviewsManage)
            .answer(example_values::list(&bulk)),
        Operation::new("getBulkDecision", Scope::ReviewsManage).answer(bulk.clone()),
        Operation::new("undoBulkDecision", Scope::ReviewsManage).answer(bulk),
    ]
}
