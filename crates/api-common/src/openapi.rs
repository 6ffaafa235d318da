//! How an interface becomes an OpenAPI document.
//!
//! poem-openapi writes schemas and operations. This module adapts them to OpenAPI 3.0, and adds
//! what both interfaces share: the version, webhooks as callbacks, the problems of each operation,
//! and the request id header. The order of members is stable.

use poem::http::StatusCode;
use poem_openapi::{OpenApi, OpenApiService, Webhook, registry::Registry, types::Type as _};
use serde_json::{Map, Value, json};

use crate::problem::{self, Code, Problem};

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

/// Takes the webhooks out of the document, as callbacks of an operation.
pub fn webhooks_as_callbacks(document: &mut Value) -> Value {
    let Some(Value::Object(webhooks)) = document
        .as_object_mut()
        .and_then(|root| root.shift_remove("webhooks"))
    else {
        panic!("the document has no webhooks");
    };
    let mut callbacks = json!({});
    for (event, path) in webhooks {
        // The URL is a setting of the endpoint, not a part of the request.
        callbacks[event] = json!({ RECEIVER: path });
    }
    callbacks
}

const RECEIVER: &str = "https://receiver.example.com/webhooks";

/// JSON pointer to the request of a callback.
pub fn callback(event: &str) -> String {
    format!("/{event}/{}/post", RECEIVER.replace('/', "~1"))
}

/// Writes null in the form of OpenAPI 3.0. In an `enum`, null must be one of the values. `nullable`
/// beside a reference has no meaning, and generators understand it differently or not at all.
/// There, `oneOf` has the reference and null.
fn admit_null(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let nullable = members
                .get("nullable")
                .is_some_and(|nullable| nullable == true);
            if let Some(reference) = members
                .get("allOf")
                .and_then(|parts| parts.get(0))
                .filter(|_| nullable)
                .cloned()
            {
                members.shift_remove("allOf");
                members.shift_remove("nullable");
                members.insert("oneOf".to_owned(), Value::Array(vec![reference, null()]));
            }
            if let Some(Value::Array(values)) = members.get_mut("enum").filter(|_| nullable)
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            members.values_mut().for_each(admit_null);
        }
        Value::Array(items) => items.iter_mut().for_each(admit_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The schema of null: `nullable` needs a type, and the `enum` leaves only null of it. With this
/// type, the generators of docs/clients.md write the best code.
fn null() -> Value {
    json!({ "type": "boolean", "nullable": true, "enum": [null] })
}

/// Declares the rate limit headers, in every answer that the operation can give after it has
/// checked the key.
pub fn declare_rate_limit(document: &mut Value, operation: &str) {
    extend(
        document,
        "/components/headers",
        json!({
            "RateLimit": {
                "description": "What is left of the rate limit: the policy's name, `r` the requests left in this \
                                UTC minute as far as known, `t` the seconds until the next minute \
                                (draft-ietf-httpapi-ratelimit-headers-10). It is the site key's limit, or its \
                                team's (`team_submit`, `team_status`) if fewer requests of that are left.",
                "schema": { "type": "string" },
                "example": "\"submit\";r=998;t=41",
            },
            "RateLimitPolicy": {
                "description": "The rate limits of the site key and of all keys of its team together: the \
                                policy's name, `q` the requests in a window, `w` the window's length in seconds.",
                "schema": { "type": "string" },
                "example": "\"submit\";q=1000;w=60, \"team_submit\";q=10000;w=60",
            },
        }),
    );
    let responses = at(document, &format!("{operation}/responses")).as_object_mut();
    for (status, response) in responses.into_iter().flatten() {
        let keyless = [
            StatusCode::UNAUTHORIZED,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ];
        if keyless.iter().all(|keyless| keyless.as_str() != status) {
            response["headers"]["RateLimit"] = json!({ "$ref": "#/components/headers/RateLimit" });
            response["headers"]["RateLimit-Policy"] =
                json!({ "$ref": "#/components/headers/RateLimitPolicy" });
        }
    }
}

/// Declares the problems that an operation answers with, by status, and the request id of its success.
pub fn declare_answers(document: &mut Value, operation: &str, codes: &[Code]) {
    let responses = at(document, &format!("{operation}/responses"));
    for (_, success) in responses.as_object_mut().into_iter().flatten() {
        success["headers"]["X-Request-Id"] = request_id();
    }
    let mut responses = Map::new();
    for code in codes {
        let status = code.status().as_str().to_owned();
        let same_status = || codes.iter().filter(|other| other.status() == code.status());
        let names: Vec<String> = same_status()
            .map(|code| format!("`{}`", code.as_str()))
            .collect();
        let reason = code.status().canonical_reason().unwrap_or_default();
        let mut headers = json!({ "X-Request-Id": request_id() });
        if same_status().any(|code| code.challenge().is_some()) {
            headers["WWW-Authenticate"] = json!({ "$ref": "#/components/headers/Challenge" });
        }
        if code.is_passing() {
            headers["Retry-After"] = json!({ "$ref": "#/components/headers/RetryAfter" });
        }
        let response = json!({
            "description": format!("{reason}: {}.", names.join(", ")),
            "headers": headers,
            "content": { problem::CONTENT_TYPE: {
                "schema": { "$ref": "#/components/schemas/Problem" },
                "examples": same_status().map(|code| example(*code)).collect::<Value>(),
            } },
        });
        responses.insert(status, response);
        let example = json!({ code.as_str(): { "value": problem(*code) } });
        extend(document, "/components/examples", example);
    }
    extend(
        document,
        &format!("{operation}/responses"),
        responses.into(),
    );
}

/// The name and the place of a problem of this code.
fn example(code: Code) -> (String, Value) {
    let name = code.as_str();
    (
        name.to_owned(),
        json!({ "$ref": format!("#/components/examples/{name}") }),
    )
}

/// A problem of this code.
fn problem(code: Code) -> Value {
    let mut problem = json!({
        "type": "about:blank",
        "title": code.status().canonical_reason(),
        "status": code.status().as_u16(),
        "detail": "What is wrong with this request.",
        "code": code.as_str(),
        "request_id": "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f",
    });
    if code.status() == StatusCode::BAD_REQUEST {
        problem["errors"] = json!([{ "field": "a_member", "message": "what to do about it" }]);
    }
    problem
}

fn request_id() -> Value {
    json!({ "$ref": "#/components/headers/RequestId" })
}
