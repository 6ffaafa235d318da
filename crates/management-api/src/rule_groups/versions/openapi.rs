//! The OpenAPI descriptions of the operations on versions of rule groups: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::{
    openapi::{Operation, example_values},
    rule_groups::{group_example, rule_schema},
};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let version = json!({
        "id": example_values::VERSION,
        "number": 3,
        "note": "Review codes are reviewed.",
        "rule_count": 4,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
    });
    let mut with_rules = version.clone();
    with_rules["rules"] = Value::Array(rule_schema::examples());
    let publication = json!({
        "id": "01980f6d-14aa-7bbb-8ccc-0123456789ab",
        "version_id": example_values::VERSION,
        "version_number": 3,
        "published_by": example_values::TOKEN,
        "published_at": example_values::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example_values::list(&version)),
            ..Operation::new("listVersions", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::DraftChanged, Code::LimitReached],
            request: Some(
                json!({ "revision": 7, "note": "Review codes are reviewed.", "live": true }),
            ),
            answer: Some(version),
            ..Operation::new("createVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(with_rules),
            ..Operation::new("getVersion", Scope::RulesRead)
        },
        Operation {
            request: Some(json!({ "version_id": example_values::VERSION })),
            answer: Some(group_example()),
            ..Operation::new("setLiveVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(example_values::list(&publication)),
            ..Operation::new("listPublications", Scope::RulesRead)
        },
    ]
}
