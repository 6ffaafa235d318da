//! The OpenAPI descriptions of the operations on hash lists: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

pub(super) fn list_example() -> Value {
    json!({
        "id": example_values::HASH_LIST,
        "team_id": example_values::TEAM,
        "name": "Removed before",
        "description": "Images that moderators have rejected.",
        "kind": "deny",
        "max_distance": 31,
        "revision": 12,
        "entry_count": 1_204,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let list = list_example();
    let own = vec![
        Operation {
            answer: Some(example_values::list(&list)),
            ..Operation::new("listHashLists", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Removed before",
                "description": "Images that moderators have rejected.",
                "kind": "deny",
                "max_distance": 31,
                "team_id": example_values::TEAM,
            })),
            answer: Some(list.clone()),
            ..Operation::new("createHashList", Scope::HashListsWrite)
        },
        Operation {
            answer: Some(list.clone()),
            ..Operation::new("getHashList", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::SharedList],
            request: Some(json!({ "max_distance": 20 })),
            answer: Some(list),
            ..Operation::new("updateHashList", Scope::HashListsWrite)
        },
        Operation {
            problems: &[Code::HashListInUse, Code::SharedList],
            ..Operation::new("deleteHashList", Scope::HashListsWrite)
        },
    ];
    [
        own,
        super::entries::descriptions(),
        super::image::descriptions(),
        super::imports::descriptions(),
        super::scans::descriptions(),
    ]
    .concat()
}
