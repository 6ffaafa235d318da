//! The problems that an operation can answer with, by status, with examples.

use poem::http::StatusCode;
use serde_json::{Map, Value, json};

use super::{at, extend};
use crate::problem::{self, Code};

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
