//! The OpenAPI descriptions of the operations on imports: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

pub(super) fn import_example() -> Value {
    json!({
        "id": example_values::HASH_IMPORT,
        "hash_list_id": example_values::HASH_LIST,
        "algorithm": "pdq",
        "state": "running",
        "total_lines": 100_000,
        "lines": 40_000,
        "added": 39_800,
        "existing": 150,
        "refused": 50,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let import = import_example();
    vec![
        Operation {
            problems: &[Code::SharedList],
            answer: Some(example_values::list(&import)),
            ..Operation::new("listHashImports", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList, Code::LimitReached],
            request: Some(format!("{},Reported twice in January.\n", example_values::PDQ).into()),
            answer: Some(import.clone()),
            ..Operation::new("createHashImport", Scope::HashListsWrite)
        },
        Operation {
            answer: Some(import.clone()),
            ..Operation::new("getHashImport", Scope::HashListsRead)
        },
        Operation {
            answer: Some(example_values::list(&json!({
                "line": 17,
                "message": "does not begin with a hash of 64 hexadecimal digits",
            }))),
            ..Operation::new("listHashImportRefusals", Scope::HashListsRead)
        },
        Operation {
            answer: Some(import),
            ..Operation::new("cancelHashImport", Scope::HashListsWrite)
        },
    ]
}
