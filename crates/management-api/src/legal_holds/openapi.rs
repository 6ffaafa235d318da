//! The OpenAPI descriptions of the operations on legal holds: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example_values::list(&hold(&json!(null)))),
            ..Operation::new("listLegalHolds", Scope::HoldsRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({
                "site_id": example_values::SITE,
                "media_id": example_values::MEDIA,
                "reason": "Case 12/2026 of the public prosecutor.",
            })),
            answer: Some(hold(&json!(null))),
            ..Operation::new("createLegalHold", Scope::HoldsWrite)
        },
        Operation {
            answer: Some(hold(&json!(null))),
            ..Operation::new("getLegalHold", Scope::HoldsRead)
        },
        Operation {
            answer: Some(hold(&json!("2026-05-02T08:30:00.000000Z"))),
            ..Operation::new("liftLegalHold", Scope::HoldsWrite)
        },
    ]
}

fn hold(lifted_at: &Value) -> Value {
    json!({
        "id": example_values::HOLD,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "media_id": example_values::MEDIA,
        "author": null,
        "reason": "Case 12/2026 of the public prosecutor.",
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "lifted_at": lifted_at,
    })
}
