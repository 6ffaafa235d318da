//! The OpenAPI descriptions of the operations on closures: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let closure = json!({
        "id": example_values::CLOSURE,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "name": "Comments",
        "state": "grace",
        "erase_at": "2026-03-02T12:00:00.123456Z",
        "waits_for": null,
        "sites": [{
            "site_id": example_values::SITE,
            "name": "Comments",
            "export_id": example_values::EXPORT,
            "erasure_id": null,
        }],
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation {
            answer: Some(example_values::list(&closure)),
            ..Operation::new("listClosures", Scope::ClosuresRead)
        },
        Operation {
            problems: &[Code::Closing, Code::LegalHold, Code::LimitReached],
            request: Some(
                json!({ "site_id": example_values::SITE, "name": "Comments", "grace_days": 30 }),
            ),
            answer: Some(closure.clone()),
            ..Operation::new("createClosure", Scope::ClosuresWrite)
        },
        Operation {
            answer: Some(closure.clone()),
            ..Operation::new("getClosure", Scope::ClosuresRead)
        },
        Operation {
            problems: &[Code::Closing],
            answer: Some(closure.clone()),
            ..Operation::new("cancelClosure", Scope::ClosuresWrite)
        },
        Operation {
            answer: Some(closure),
            ..Operation::new("resumeClosure", Scope::ClosuresWrite)
        },
    ]
}
