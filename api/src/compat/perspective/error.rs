//! Refusals in Google's format.

use api_common::Refusal;
use poem::{
    Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::submit_and_wait::Item;

/// The language that Perspective names if it does not know which one a text has.
const UNKNOWN: &str = "und";

/// Why a request has no answer.
pub(super) enum Failed {
    /// The request is refused.
    Refused(Refusal),
    /// No provider could score any of the attributes for this text, for instance because of its language.
    Unread {
        /// The first of them, as the client calls it.
        attribute: String,
        /// The languages that the client names.
        languages: Vec<String>,
        /// What became of the text.
        item: Box<Item>,
    },
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

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

impl Failed {
    /// The answer. Status code and `Retry-After` of a refusal are those of our own interface.
    pub(super) fn into_response(self) -> Response {
        match self {
            Self::Refused(refusal) => refused(refusal),
            Self::Unread {
                attribute,
                languages,
                item,
            } => unread(&attribute, languages, &item),
        }
    }
}

fn refused(refusal: Refusal) -> Response {
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
    let mut details = vec![info(reason, &json!({}))];
    if !violations.is_empty() {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": violations,
        }));
    }
    response(status, headers, message, details)
}

/// As Perspective answers for a language that it does not know. Its clients read the first detail.
fn unread(attribute: &str, mut languages: Vec<String>, item: &Item) -> Response {
    if languages.is_empty() {
        languages.push(UNKNOWN.to_owned());
    }
    let message = format!(
        "Attribute {attribute} does not support request languages: {}",
        languages.join(", ")
    );
    let mut metadata = json!({});
    let media = item.media_id.map(|media| media.to_string());
    let members = [
        ("media_id", media.as_deref()),
        ("status", item.status),
        ("action", item.action),
        ("reason", item.reason.as_deref()),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            metadata[name] = value.into();
        }
    }
    let details = vec![
        json!({
            "@type": "type.googleapis.com/google.commentanalyzer.v1alpha1.Error",
            "errorType": "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
            "languageNotSupportedByAttributeError": {
                "detectedLanguages": languages,
                "attribute": attribute,
            },
        }),
        info("not_checked", &metadata),
    ];
    response(StatusCode::BAD_REQUEST, HeaderMap::new(), message, details)
}

/// Our own code of a refusal, and what else we know.
fn info(reason: &str, metadata: &Value) -> Value {
    let mut info = json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason.to_ascii_uppercase(),
        "domain": "gatehouse",
    });
    if metadata.as_object().is_some_and(|known| !known.is_empty()) {
        info["metadata"] = metadata.clone();
    }
    info
}

fn response(
    status: StatusCode,
    headers: HeaderMap,
    message: String,
    details: Vec<Value>,
) -> Response {
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
