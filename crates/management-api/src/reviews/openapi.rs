//! The OpenAPI descriptions of the operations on reviews: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

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
    operations.extend(super::reports::descriptions());
    operations.extend(about_items());
    operations.extend(super::bulk::descriptions(&review()));
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
        Operation::new("listMediaNotes", Scope::MediaRead)
            .answer(json!({ "data": [{
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
        Operation::new("listGoldenMedia", Scope::ReviewsManage)
            .answer(example_values::list(&json!({
                "media_id": example_values::MEDIA,
                "site_id": example_values::SITE,
                "expected": "reject",
                "added_by": example_values::PERSON,
                "added_at": example_values::CREATED_AT,
            }))),
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
