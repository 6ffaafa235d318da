//! How an interface becomes an OpenAPI document.
//!
//! poem-openapi writes schemas and operations. This module adapts them to OpenAPI 3.0, and adds
//! what both interfaces share: the version, webhooks as callbacks, the problems of each operation,
//! and the request id header. The order of members is stable.

mod callbacks;
mod nullable;
mod rate_limit;
mod responses;

use poem_openapi::{OpenApi, OpenApiService, Webhook, registry::Registry, types::Type as _};
use serde_json::{Value, json};

use crate::problem::Problem;
use nullable::admit_null;

pub use callbacks::{callback, webhooks_as_callbacks};
pub use rate_limit::declare_rate_limit;
pub use responses::declare_answers;

/// The finished document of an interface: OpenAPI 3.0.3 as pretty JSON with a newline at the end.
pub fn written<Api: OpenApi, Hooks: Webhook>(
    service: &OpenApiService<Api, Hooks>,
    finish: impl FnOnce(&mut Value),
) -> String {
    let mut document = serde_json::from_str(&service.spec()).expect("poem-openapi writes JSON");
    finish(&mut document);
    admit_null(&mut document);
    let mut text = serde_json::to_string_pretty(&document).expect("a JSON value is writable");
    text.push('\n');
    text
}

/// A reference to a named schema, with a description of its own.
pub fn described_reference(name: &str, description: &Value) -> Value {
    json!({ "allOf": [{ "$ref": format!("#/components/schemas/{name}") }], "description": description })
}

/// What is at a JSON pointer. Tests make the documents that are served, so they find a name that does not exist.
pub fn at<'a>(document: &'a mut Value, pointer: &str) -> &'a mut Value {
    document
        .pointer_mut(pointer)
        .unwrap_or_else(|| panic!("the document has no {pointer}"))
}

/// Adds members to the object at a JSON pointer.
pub fn extend(document: &mut Value, pointer: &str, members: Value) {
    if let (Value::Object(object), Value::Object(members)) = (at(document, pointer), members) {
        object.extend(members);
    }
}

/// Adds version, licence and contact, and what every operation shares: problem documents and the
/// request id.
pub fn declare_common(document: &mut Value) {
    let mut registry = Registry::new();
    Problem::register(&mut registry);
    let schemas = serde_json::to_value(&registry.schemas).expect("schemas are JSON");
    *at(document, "/openapi") = "3.0.3".into();
    extend(
        document,
        "/info",
        json!({
            "contact": { "name": "Gatehouse", "url": env!("CARGO_PKG_REPOSITORY") },
            "license": {
                "name": env!("CARGO_PKG_LICENSE"),
                "url": concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/LICENSE-MIT"),
            },
        }),
    );
    extend(document, "/components/schemas", schemas);
    extend(
        document,
        "/components",
        json!({
            "examples": {},
            "headers": {
                "RequestId": {
                    "description": "The request's id in the logs: your own X-Request-Id if it has 1 to 64 of the \
                                    characters A-Z, a-z, 0-9, _ and -, otherwise a new one.",
                    "required": true,
                    "schema": { "type": "string" },
                },
                "RetryAfter": {
                    "description": "How many seconds to wait before you try again.",
                    "required": true,
                    "schema": { "type": "integer", "minimum": 0 },
                },
            },
        }),
    );
}
