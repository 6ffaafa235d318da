//! The OpenAPI descriptions of the operations on tokens: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let token = json!({
        "id": example_values::TOKEN,
        "team_id": example_values::TEAM,
        "name": "Nightly report",
        "hint": "v7Qx",
        "scopes": ["teams:read", "usage:read"],
        "creator": "token",
        "created_by": "01980f6d-02aa-7bbb-8ccc-0123456789aa",
        "created_at": example_values::CREATED_AT,
        "expires_at": "2027-01-31T12:00:00.000000Z",
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "mgmt_EXAMPLEexampleEXAMPLEexamplev7Qx" });
    api_common::openapi::extend(&mut issued, "", token.clone());
    vec![
        Operation {
            answer: Some(example_values::list(&token)),
            ..Operation::new("listTokens", Scope::TokensRead)
        },
        Operation {
            request: Some(json!({
                "name": "Nightly report",
                "team_id": example_values::TEAM,
                "scopes": ["teams:read", "usage:read"],
                "expires_at": "2099-01-31T12:00:00Z",
            })),
            answer: Some(issued),
            problems: &[Code::LimitReached],
            ..Operation::new("createToken", Scope::TokensWrite)
        },
        Operation {
            answer: Some(token),
            ..Operation::new("getToken", Scope::TokensRead)
        },
        Operation::new("disableToken", Scope::TokensWrite),
    ]
}
