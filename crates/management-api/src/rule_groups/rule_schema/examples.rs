//! An example of each kind of rule.

use serde_json::{Value, json};

use crate::openapi::example_values;

/// A rule of each kind, in the order of the kinds.
pub(crate) fn examples() -> Vec<Value> {
    vec![
        json!({
            "name": "Blocked words",
            "type": "keyword",
            "keywords": ["blockedword"],
            "exceptions": ["unblockedwords"],
            "effect": "reject",
        }),
        json!({ "name": "Review codes", "type": "regex", "pattern": r"review-\d{4}", "effect": "review" }),
        json!({
            "name": "Link shorteners",
            "type": "link",
            "policy": "deny",
            "domains": ["short.example"],
            "effect": "review",
        }),
        json!({
            "name": "Violence",
            "type": "ai_threshold",
            "category": "violence",
            "review_at": 0.5,
            "reject_at": 0.8,
        }),
        json!({
            "name": "Known images",
            "type": "image_hash",
            "lists": [example_values::HASH_LIST],
            "effect": "reject",
        }),
    ]
}
