//! The OpenAPI descriptions of the operations on trials of rules: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let violation = json!({
        "rule_id": example_values::RULE,
        "rule_name": "Blocked words",
        "rule_type": "keyword",
        "confidence": 1.0,
        "details": "A listed term was found in the text.",
        "matched_text": "b*****************d",
    });
    vec![Operation {
        problems: &[Code::EmptySubmission, Code::TextTooLarge],
        request: Some(json!({
            "text": "so much b.l.o.c.k.e.d word",
            "scores": { "violence": 0.2 },
        })),
        answer: Some(json!({
            "status": "rejected",
            "moderation_type": "rule",
            "details": { "rule_violations": [violation], "ai_analysis": { "violence": 0.2 } },
            "trace": { "groups": [], "evidence": [], "unchecked": [], "unscored": [] },
            "matches": [{
                "rule_id": example_values::RULE,
                "rule_name": "Blocked words",
                "rule_type": "keyword",
                "effect": "reject",
                "matched_text": "b.l.o.c.k.e.d word",
                "view": "loose",
                "starts_at": 8,
                "ends_at": 26,
                "category": null,
                "score": null,
                "threshold": null,
            }],
            "scores": { "violence": 0.2 },
            "scores_from": "request",
            "unscored": [],
        })),
        ..Operation::new("testRuleGroup", Scope::RulesWrite)
    }]
}
