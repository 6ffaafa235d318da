//! The OpenAPI descriptions of the operations on policies: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example_values::list(&policy())),
            ..Operation::new("listPolicies", Scope::ReviewsRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({
                "code": "hate",
                "name": "Hate",
                "reason": "It attacks people for what they are.",
                "key": 3,
                "severity": "high",
                "categories": ["hate"],
            })),
            answer: Some(policy()),
            ..Operation::new("createPolicy", Scope::ReviewsManage)
        },
        Operation {
            answer: Some(policy()),
            ..Operation::new("getPolicy", Scope::ReviewsRead)
        },
        Operation {
            request: Some(json!({ "two_people": true, "key": null })),
            answer: Some(policy()),
            ..Operation::new("updatePolicy", Scope::ReviewsManage)
        },
        Operation::new("deletePolicy", Scope::ReviewsManage),
        Operation {
            answer: Some(desk()),
            ..Operation::new("getDeskSettings", Scope::ReviewsRead)
        },
        Operation {
            request: Some(json!({ "undo_seconds": 30, "audit_percent": 5 })),
            answer: Some(desk()),
            ..Operation::new("updateDeskSettings", Scope::ReviewsManage)
        },
    ]
}

fn policy() -> Value {
    json!({
        "id": example_values::POLICY,
        "team_id": example_values::TEAM,
        "code": "hate",
        "name": "Hate",
        "guideline": "Attacks on people for what they are. Not: harsh words about what they did.",
        "reason": "It attacks people for what they are.",
        "key": 3,
        "severity": "high",
        "categories": ["hate"],
        "rules": [],
        "two_people": false,
        "created_at": example_values::CREATED_AT,
    })
}

fn desk() -> Value {
    json!({
        "low_minutes": 2_880,
        "normal_minutes": 1_440,
        "high_minutes": 240,
        "critical_minutes": 60,
        "undo_seconds": 30,
        "audit_percent": 5,
        "golden_every": null,
    })
}
