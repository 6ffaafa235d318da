//! What the document says about the operations on closures beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::document::{Operation, example};

/// What the document says beyond the signatures.
pub(crate) fn described() -> Vec<Operation> {
    let closure = json!({
        "id": example::CLOSURE,
        "team_id": example::TEAM,
        "site_id": example::SITE,
        "name": "Comments",
        "state": "grace",
        "erase_at": "2026-03-02T12:00:00.123456Z",
        "waits_for": null,
        "sites": [{
            "site_id": example::SITE,
            "name": "Comments",
            "export_id": example::EXPORT,
            "erasure_id": null,
        }],
        "error": null,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation {
            answer: Some(example::list(&closure)),
            ..Operation::new("listClosures", Scope::ClosuresRead)
        },
        Operation {
            problems: &[Code::Closing, Code::LegalHold, Code::LimitReached],
            request: Some(
                json!({ "site_id": example::SITE, "name": "Comments", "grace_days": 30 }),
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
