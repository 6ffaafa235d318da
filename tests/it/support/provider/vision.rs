//! Google Cloud Vision.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::{FakeProvider, Picture, Refusal, Shown, knows_key};

const INVALID: Refusal = Refusal(400, "INVALID_ARGUMENT");

pub(super) fn read(parts: &Parts, body: &[u8], request: &Value) -> Result<Shown, Refusal> {
    knows_google_key(parts)?;
    if parts.uri.path() != "/v1/images:annotate" {
        return Err(Refusal(404, "NOT_FOUND"));
    }
    if body.len() > 10_000_000 {
        return Err(Refusal(400, "INVALID_ARGUMENT"));
    }
    let [asked] = request["requests"].as_array().ok_or(INVALID)?.as_slice() else {
        return Err(INVALID);
    };
    if asked["features"] != json!([{ "type": "SAFE_SEARCH_DETECTION" }]) {
        return Err(INVALID);
    }
    let file = asked["image"]["content"].as_str().ok_or(INVALID)?;
    let picture = Picture::of_base64(file).ok_or(INVALID)?;
    Ok(Shown::picture(request, &picture))
}

/// A wrong key gets 400.
pub(super) fn knows_google_key(parts: &Parts) -> Result<(), Refusal> {
    knows_key(parts, "x-goog-api-key", FakeProvider::KEY)
        .map_err(|_| Refusal(400, "API_KEY_INVALID"))
}

pub(super) fn well(shown: &Shown) -> Value {
    let violence = if shown.violent[0] {
        "VERY_LIKELY"
    } else {
        "VERY_UNLIKELY"
    };
    annotated(&json!({ "safeSearchAnnotation": {
        "adult": "VERY_UNLIKELY", "spoof": "UNLIKELY", "medical": "UNKNOWN",
        "violence": violence, "racy": "POSSIBLE",
    } }))
}

pub(super) fn annotated(image: &Value) -> Value {
    json!({ "responses": [image] })
}

/// Resources are exhausted, but the status is 200.
pub(super) fn hidden() -> (u16, Value) {
    let error = json!({ "code": 8, "message": "Quota exceeded." });
    (200, annotated(&json!({ "error": error })))
}

pub(super) fn error(status: u16, code: &str) -> Value {
    if code != "API_KEY_INVALID" {
        return json!({ "error": { "code": status, "message": code, "status": code } });
    }
    json!({ "error": {
        "code": status,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": code,
            "domain": "googleapis.com",
        }],
    } })
}
