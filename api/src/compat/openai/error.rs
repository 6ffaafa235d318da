//! Refusals in OpenAI's format.

use api_common::problem::{Code, Refusal};
use poem::{Response, http::StatusCode, http::header};
use serde::Serialize;

#[derive(Serialize)]
struct Body {
    error: Failure,
}

#[derive(Serialize)]
struct Failure {
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    param: Option<String>,
    code: &'static str,
}

/// The answer to a request that is refused. Status and `Retry-After` are those of our own interface.
pub(super) fn failed(refusal: Refusal) -> Response {
    let refused_with = refusal.code();
    let status = refused_with.status();
    let headers = refusal.headers();
    let (kind, code) = names(refused_with, status);
    let (detail, errors) = refusal.into_words();
    let first = errors.into_iter().next();
    let message = match &first {
        Some(first) => format!("{} {}", field(&first.field), first.message),
        None => detail,
    };
    let body = Body {
        error: Failure {
            message,
            kind,
            param: first.map(|first| field(&first.field)),
            code,
        },
    };
    let mut response = Response::builder()
        .status(status)
        .body(serde_json::to_vec(&body).expect("it has only texts"));
    *response.headers_mut() = headers;
    if refused_with == Code::NotChecked {
        // OpenAI's SDKs would repeat a request that ended with a server error, and store its items again.
        response
            .headers_mut()
            .insert("x-should-retry", header::HeaderValue::from_static("false"));
    }
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}

/// `type` and `code`. Theirs where they have one, and ours otherwise.
fn names(code: Code, status: StatusCode) -> (&'static str, &'static str) {
    match code {
        Code::RateLimited => ("requests", "rate_limit_exceeded"),
        Code::QuotaExceeded | Code::NoActiveSubscription => ("insufficient_quota", code.as_str()),
        _ if status.is_server_error() => ("server_error", code.as_str()),
        _ => ("invalid_request_error", code.as_str()),
    }
}

/// The member of their request that ours was made of.
fn field(ours: &str) -> String {
    match ours {
        "body" | "content_url" | "content_base64" => "input".to_owned(),
        other => other.to_owned(),
    }
}
