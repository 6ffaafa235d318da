//! Refusals in Google's format.

use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::problem::Refusal;

#[derive(Serialize)]
struct Body {
    error: Failure,
}

#[derive(Serialize)]
struct Failure {
    code: u16,
    message: String,
    status: &'static str,
    details: Vec<Value>,
}

/// The answer to a request that is refused. Status code and `Retry-After` are those of our own interface.
pub(super) fn failed(refusal: Refusal) -> Response {
    let status = refusal.code().status();
    let reason = refusal.code().as_str();
    let headers = refusal.headers();
    let (detail, errors) = refusal.into_words();
    let violations: Vec<Value> = errors
        .iter()
        .map(|error| json!({ "field": field(&error.field), "description": error.message }))
        .collect();
    let message = match errors.first() {
        Some(first) => format!("{} {}", field(&first.field), first.message),
        None => detail,
    };
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason.to_ascii_uppercase(),
        "domain": "gatehouse",
    })];
    if !violations.is_empty() {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": violations,
        }));
    }
    let body = Body {
        error: Failure {
            code: status.as_u16(),
            message,
            status: name(status),
            details,
        },
    };
    let mut response = Response::builder()
        .status(status)
        .body(serde_json::to_vec(&body).expect("it has only texts and a number"));
    *response.headers_mut() = headers;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Google's name of a status code.
fn name(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
        StatusCode::FORBIDDEN => "PERMISSION_DENIED",
        StatusCode::NOT_FOUND => "NOT_FOUND",
        StatusCode::CONFLICT => "ABORTED",
        StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
        StatusCode::REQUEST_TIMEOUT => "DEADLINE_EXCEEDED",
        StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
        _ if status.is_server_error() => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

/// The member of their request that ours was made of.
fn field(ours: &str) -> &str {
    match ours {
        "body" => "comment.text",
        other => other,
    }
}
