//! The OpenAPI descriptions of the operations on erasures: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let erasure = json!({
        "id": example_values::ERASURE,
        "team_id": example_values::TEAM,
        "site_id": null,
        "kind": "author",
        "state": "finished",
        "counts": {
            "items": 128,
            "without_verdict": 1,
            "held": 0,
            "images": 12,
            "analyses": 127,
            "hash_matches": 0,
            "verdicts": 131,
            "notes": 2,
            "opinions": 4,
            "reviews": 1,
            "events": 255,
            "deliveries": 255,
            "idempotency_keys": 3,
            "dead_jobs": 0,
        },
        "certificate": "eyJhbGciOiJFZERTQSJ9.eyJmb3JtYXQiOiJnYXRlaG91c2UtZXJhc3VyZS0xIn0.c2lnbmF0dXJl",
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": "2026-01-31T12:00:02.512000Z",
    });
    vec![
        Operation {
            answer: Some(example_values::list(&erasure)),
            ..Operation::new("listErasures", Scope::ErasuresRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({ "site_id": example_values::SITE, "author": "user-4711" })),
            answer: Some(erasure.clone()),
            ..Operation::new("createErasure", Scope::ErasuresWrite)
        },
        Operation {
            answer: Some(json!({
                "kty": "OKP",
                "crv": "Ed25519",
                "kid": example_values::SIGNING_KEY,
                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            })),
            ..Operation::new("getErasureSigningKey", Scope::ErasuresRead)
        },
        Operation {
            answer: Some(erasure.clone()),
            ..Operation::new("getErasure", Scope::ErasuresRead)
        },
        Operation {
            answer: Some(erasure),
            ..Operation::new("resumeErasure", Scope::ErasuresWrite)
        },
    ]
}
