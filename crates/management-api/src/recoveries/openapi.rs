//! The OpenAPI descriptions of the operations on recoveries: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let recovery = json!({
        "id": example_values::RECOVERY,
        "endpoint_id": example_values::ENDPOINT,
        "site_id": example_values::SITE,
        "kind": "failed",
        "event": null,
        "since": "2026-01-30T22:00:00.000000Z",
        "until": example_values::CREATED_AT,
        "reached": "2026-01-31T04:31:07.512000Z",
        "state": "running",
        "looked_at": 12_500,
        "resent": 12_431,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation {
            answer: Some(example_values::list(&recovery)),
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
