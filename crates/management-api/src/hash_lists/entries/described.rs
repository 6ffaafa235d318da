//! What the document says about the operations on entries of hash lists beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::document::{Operation, example};

pub(crate) fn entry_example() -> Value {
    json!({
        "id": example::HASH_ENTRY,
        "sha256": null,
        "pdq": example::PDQ,
        "note": "Reported twice in January.",
        "media_id": null,
        "distance": null,
        "revision": 12,
        "added_by": example::TOKEN,
        "added_at": example::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn described() -> Vec<Operation> {
    let entry = entry_example();
    vec![
        Operation {
            problems: &[Code::SharedList],
            answer: Some(example::list(&entry)),
            ..Operation::new("listHashEntries", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList, Code::AlreadyListed, Code::LimitReached],
            request: Some(json!({ "pdq": example::PDQ, "note": "Reported twice in January." })),
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
