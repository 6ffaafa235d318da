//! The OpenAPI descriptions of the operations on scans: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

pub(super) fn scan_example() -> Value {
    json!({
        "id": example_values::HASH_SCAN,
        "hash_list_id": example_values::HASH_LIST,
        "team_id": example_values::TEAM,
        "since_revision": 11,
        "until": example_values::CREATED_AT,
        "oldest": "2025-06-30T08:15:00.123456Z",
        "reached": "2025-11-02T19:20:00.123000Z",
        "state": "running",
        "looked_at": 31_000,
        "matched": 17,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let scan = scan_example();
    vec![
        Operation {
            answer: Some(example_values::list(&scan)),
            ..Operation::new("listHashScans", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::ScanRunning],
            request: Some(json!({ "since_revision": 11 })),
            answer: Some(scan.clone()),
            ..Operation::new("createHashScan", Scope::HashListsWrite)
        },
        Operation {
            answer: Some(scan.clone()),
            ..Operation::new("getHashScan", Scope::HashListsRead)
        },
        Operation {
            answer: Some(example_values::list(&json!({
                "media_id": example_values::MEDIA,
                "status": "approved",
                "hash_entry_id": example_values::HASH_ENTRY,
                "algorithm": "pdq",
                "distance": 6,
            }))),
            ..Operation::new("listHashScanMatches", Scope::HashListsRead)
        },
        Operation {
            answer: Some(scan),
            ..Operation::new("cancelHashScan", Scope::HashListsWrite)
        },
    ]
}
