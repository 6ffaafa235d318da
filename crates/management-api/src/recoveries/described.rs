//! What the document says about the operations on recoveries beyond their signatures.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::document::{Operation, example};

/// What the document says beyond the signatures.
pub(crate) fn described() -> Vec<Operation> {
    let recovery = json!({
        "id": example::RECOVERY,
        "endpoint_id": example::ENDPOINT,
        "site_id": example::SITE,
        "kind": "failed",
        "event": null,
        "since": "2026-01-30T22:00:00.000000Z",
        "until": example::CREATED_AT,
        "reached": "2026-01-31T04:31:07.512000Z",
        "state": "running",
        "looked_at": 12_500,
        "resent": 12_431,
        "error": null,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation {
            answer: Some(example::list(&recovery)),
            ..Operation::new("listRecoveries", Scope::WebhooksRead)
        },
        Operation {
            problems: &[Code::RecoveryRunning, Code::EndpointDisabled],
            request: Some(json!({ "kind": "failed", "since": "2026-01-30T22:00:00Z" })),
            answer: Some(recovery.clone()),
            ..Operation::new("createRecovery", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(recovery.clone()),
            ..Operation::new("getRecovery", Scope::WebhooksRead)
        },
        Operation {
            answer: Some(recovery),
            ..Operation::new("cancelRecovery", Scope::WebhooksWrite)
        },
    ]
}
