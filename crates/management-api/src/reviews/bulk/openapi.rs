//! The OpenAPI descriptions of the operations on bulk decisions: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

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
        Operation {
            request: Some(json!({ "severity": "low", "rule": "links" })),
            answer: Some(json!({
                "count": 420,
                "is_too_many": false,
                "data": [{ "media_id": example_values::MEDIA, "review": review }],
            })),
            ..Operation::new("previewBulkDecision", Scope::ReviewsManage)
        },
        Operation {
            problems: &[Code::BulkDecisionRunning, Code::MoreReviewsMatch],
            request: Some(json!({
                "decision": "reject",
                "policy_id": example_values::POLICY,
                "review_ids": [example_values::REVIEW],
            })),
            answer: Some(bulk.clone()),
            ..Operation::new("createBulkDecision", Scope::ReviewsManage)
        },
        Operation {
            answer: Some(example_values::list(&bulk)),
            ..Operation::new("listBulkDecisions", Scope::ReviewsManage)
        },
        Operation {
            answer: Some(bulk.clone()),
            ..Operation::new("getBulkDecision", Scope::ReviewsManage)
        },
        Operation {
            answer: Some(bulk),
            ..Operation::new("undoBulkDecision", Scope::ReviewsManage)
        },
    ]
}
