//! What the document says about the operations on versions of rule groups beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::{
    document::{Operation, example},
    rule_groups::{group_example, schema},
};

/// What the document says beyond the signatures.
pub(crate) fn described() -> Vec<Operation> {
    let version = json!({
        "id": example::VERSION,
        "number": 3,
        "note": "Review codes are reviewed.",
        "rule_count": 4,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
    });
    let mut with_rules = version.clone();
    with_rules["rules"] = Value::Array(schema::examples());
    let publication = json!({
        "id": "01980f6d-14aa-7bbb-8ccc-0123456789ab",
        "version_id": example::VERSION,
        "version_number": 3,
        "published_by": example::TOKEN,
        "published_at": example::CREATED_AT,
    });
    vec![
        Operation {
            answer: Some(example::list(&version)),
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
            request: Some(json!({ "version_id": example::VERSION })),
            answer: Some(group_example()),
            ..Operation::new("setLiveVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(example::list(&publication)),
            ..Operation::new("listPublications", Scope::RulesRead)
        },
    ]
}
