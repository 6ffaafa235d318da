//! The OpenAPI descriptions of the operations on entries of hash lists: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

pub(crate) fn entry_example() -> Value {
    json!({
        "id": example_values::HASH_ENTRY,
        "sha256": null,
        "pdq": example_values::PDQ,
        "note": "Reported twice in January.",
        "media_id": null,
        "distance": null,
        "revision": 12,
        "added_by": example_values::TOKEN,
        "added_at": example_values::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let entry = entry_example();
    vec![
        Operation {
            problems: &[Code::SharedList],
            answer: Some(example_values::list(&entry)),
            ..Operation::new("listHashEntries", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList, Code::AlreadyListed, Code::LimitReached],
            request: Some(
                json!({ "pdq": example_values::PDQ, "note": "Reported twice in January." }),
            ),
            answer: Some(entry.clone()),
            ..Operation::new("createHashEntry", Scope::HashListsWrite)
        },
        Operation {
            problems: &[Code::SharedList],
            answer: Some(entry),
            ..Operation::new("getHashEntry", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList],
            ..Operation::new("deleteHashEntry", Scope::HashListsWrite)
        },
    ]
}
