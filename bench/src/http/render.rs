//! Requests as bytes.

use serde_json::json;

const SUBMIT: &str = "/functions/v1/submit-media";

/// A rendered `GET`.
pub(crate) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: gatehouse\r\n\r\n").into_bytes()
}

/// A rendered request to the management interface; `path` stands under `/management/v1`.
pub(crate) fn managed(
    method: &str,
    path: &str,
    token: &str,
    body: Option<&serde_json::Value>,
) -> Vec<u8> {
    let body = body.map(ToString::to_string).unwrap_or_default();
    let kind = if body.is_empty() {
        ""
    } else {
        "content-type: application/json\r\n"
    };
    format!(
        "{method} /management/v1{path} HTTP/1.1\r\nhost: gatehouse\r\nauthorization: Bearer {token}\r\n{kind}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A rendered submission of a text.
pub(crate) fn submission(site_key: &str, app_media_id: &str, text: &str) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "app_media_id": app_media_id, "body": text });
    post(SUBMIT, "", &body)
}

/// The same, whose answer waits for the verdict.
pub(crate) fn waiting_submission(site_key: &str, app_media_id: &str, text: &str) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "app_media_id": app_media_id, "body": text });
    post(SUBMIT, "prefer: wait=10\r\n", &body)
}

/// A rendered submission with this body, whatever it is.
pub(crate) fn submission_of(body: &str) -> Vec<u8> {
    render(SUBMIT, "", body)
}

/// A rendered submission of a text with an `Idempotency-Key`.
pub(crate) fn repeatable_submission(
    site_key: &str,
    app_media_id: &str,
    text: &str,
    idempotency_key: &str,
) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "app_media_id": app_media_id, "body": text });
    let header = format!("idempotency-key: {idempotency_key}\r\n");
    post(SUBMIT, &header, &body)
}

/// A rendered status query.
pub(crate) fn status_query(site_key: &str, media: uuid::Uuid) -> Vec<u8> {
    let body = json!({ "api_key": site_key, "media_id": media });
    post("/functions/v1/get-media-status", "", &body)
}

fn post(path: &str, header: &str, body: &serde_json::Value) -> Vec<u8> {
    render(path, header, &body.to_string())
}

fn render(path: &str, header: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: gatehouse\r\ncontent-type: application/json\r\n{header}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
