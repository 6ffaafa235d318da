//! What the document says about the operations on scans beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::document::{Operation, example};

pub(super) fn scan_example() -> Value {
    json!({
        "id": example::HASH_SCAN,
        "hash_list_id": example::HASH_LIST,
        "team_id": example::TEAM,
        "since_revision": 11,
        "until": example::CREATED_AT,
        "oldest": "2025-06-30T08:15:00.123456Z",
        "reached": "2025-11-02T19:20:00.123000Z",
        "state": "running",
        "looked_at": 31_000,
        "matched": 17,
        "error": null,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn described() -> Vec<Operation> {
    let scan = scan_example();
    vec![
        Operation {
            answer: Some(example::list(&scan)),
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
            answer: Some(example::list(&json!({
                "media_id": example::MEDIA,
                "status": "approved",
                "hash_entry_id": example::HASH_ENTRY,
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
