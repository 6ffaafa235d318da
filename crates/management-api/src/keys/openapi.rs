//! The OpenAPI descriptions of the operations on site keys: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let key = json!({
        "id": "01980f6d-09aa-7bbb-8ccc-0123456789ab",
        "site_id": example_values::SITE,
        "hint": "w3Zk",
        "created_at": example_values::CREATED_AT,
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "site_EXAMPLEexampleEXAMPLEexamplew3Zk" });
    api_common::openapi::extend(&mut issued, "", key.clone());
    vec![
        Operation {
            answer: Some(example_values::list(&key)),
            ..Operation::new("listSiteKeys", Scope::KeysRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            answer: Some(issued.clone()),
            ..Operation::new("createSiteKey", Scope::KeysWrite)
        },
        Operation {
            problems: &[Code::LimitReached],
            answer: Some(issued),
            ..Operation::new("rotateSiteKeys", Scope::KeysWrite)
        },
        Operation {
            answer: Some(key),
            ..Operation::new("getSiteKey", Scope::KeysRead)
        },
        Operation::new("disableSiteKey", Scope::KeysWrite),
    ]
}
