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
        Operation {
            request: Some(json!({ "limit": 2 })),
            answer: Some(json!({ "data": [review()] })),
            ..Operation::new("claimReviews", Scope::MediaDecide)
        },
        Operation {
            answer: Some(json!({ "data": [{
                "site_id": example_values::SITE,
                "severity": "high",
                "tier": "everybody",
                "reviews": 120,
                "overdue": 3,
                "oldest_waiting_since": example_values::CREATED_AT,
            }] })),
            ..Operation::new("countWaitingReviews", Scope::ReviewsRead)
        },
        Operation {
            answer: Some(review()),
            ..Operation::new("getReview", Scope::MediaDecide)
        },
        Operation {
            problems: &[
                Code::ImageNotPreviewed,
                Code::PreviewTimedOut,
                Code::DarkroomUnavailable,
            ],
            ..Operation::new("getReviewPreview", Scope::MediaDecide)
        },
        Operation {
            problems: NOT_YOURS,
            answer: Some(
                json!({ "id": example_values::REVIEW, "leased_until": "2026-01-31T14:35:00.123456Z" }),
            ),
            ..Operation::new("renewReview", Scope::MediaDecide)
        },
        Operation {
            problems: NOT_YOURS,
            ..Operation::new("skipReview", Scope::MediaDecide)
        },
        Operation {
            problems: &[
                Code::ReviewNotYours,
                Code::ReviewDecided,
                Code::ReviewEscalated,
            ],
            request: Some(json!({ "note": "The second sentence may be a quotation." })),
            ..Operation::new("escalateReview", Scope::MediaDecide)
        },
        Operation {
            problems: NOT_YOURS,
            request: Some(note()),
            answer: Some(json!({ "id": example_values::NOTE })),
            ..Operation::new("createReviewNote", Scope::MediaDecide)
        },
        Operation {
            problems: NOT_YOURS,
            ..Operation::new("unveilReview", Scope::MediaDecide)
        },
        Operation {
            problems: NOT_YOURS,
            request: Some(json!({ "decision": "reject", "policy_id": example_values::POLICY })),
            answer: Some(json!({
                "id": example_values::REVIEW,
                "decision": "reject",
                "held_until": "2026-01-31T14:30:10.123456Z",
            })),
            ..Operation::new("decideReview", Scope::MediaDecide)
        },
        Operation {
            problems: &[Code::ReviewUndecided, Code::ReviewTold],
            answer: Some(review()),
            ..Operation::new("undoReviewDecision", Scope::MediaDecide)
        },
    ];
    operations.extend(super::reports::descriptions());
    operations.extend(about_items());
    operations.extend(super::bulk::descriptions(&review()));
    operations
}

/// The operations on items outside of reviews.
fn about_items() -> Vec<Operation> {
    vec![
        Operation {
            problems: &[Code::StillPending, Code::StillInReview, Code::AppealOpen],
            request: Some(json!({ "text": "It is a line of a song." })),
            answer: Some(json!({
                "media_id": example_values::MEDIA,
                "status": "rejected",
                "due_at": "2026-01-31T16:00:00.123456Z",
            })),
            ..Operation::new("appealMedia", Scope::MediaAppeal)
        },
        Operation {
            answer: Some(json!({ "data": [{
                "id": example_values::NOTE,
                "by": example_values::PERSON,
                "name": "Ada",
                "text": note()["text"],
                "written_at": example_values::CREATED_AT,
            }] })),
            ..Operation::new("listMediaNotes", Scope::MediaRead)
        },
        Operation {
            request: Some(note()),
            answer: Some(json!({ "id": example_values::NOTE })),
            ..Operation::new("createMediaNote", Scope::MediaDecide)
        },
        Operation {
            answer: Some(json!({ "data": [], "next_cursor": null })),
            ..Operation::new("listRelatedMedia", Scope::MediaRead)
        },
        Operation {
            problems: &[Code::StillInReview, Code::NeverInReview],
            request: Some(json!({ "expected": "reject" })),
            ..Operation::new("setGoldenMedia", Scope::ReviewsManage)
        },
        Operation::new("unsetGoldenMedia", Scope::ReviewsManage),
        Operation {
            answer: Some(example_values::list(&json!({
                "media_id": example_values::MEDIA,
                "site_id": example_values::SITE,
                "expected": "reject",
                "added_by": example_values::PERSON,
                "added_at": example_values::CREATED_AT,
            }))),
            ..Operation::new("listGoldenMedia", Scope::ReviewsManage)
        },
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
