//! The problem document and its headers, as a response of poem or as raw bytes.

use http_server::{ErrorResponse, RequestId};
use poem::{
    Response,
    http::{HeaderMap, HeaderValue, header},
};
use poem_openapi::Object;
use serde::Serialize;

use super::Refusal;
use crate::rate_limit_headers;

/// The content type of every problem document.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// In how many seconds to try again if nothing better is known.
const SOON: u32 = 1;

/// An error document as RFC 9457 describes it, with a stable `code`.
#[derive(Debug, Serialize, Object)]
pub struct Problem {
    /// Always `about:blank`: see `code` for the kind of problem.
    #[serde(rename = "type")]
    #[oai(rename = "type")]
    kind: String,
    /// The status code's name.
    title: String,
    /// The status code.
    status: u16,
    /// What is wrong, and what to do, for people.
    detail: String,
    /// What is wrong, for programs. A code never changes its meaning. Codes may be added.
    code: String,
    /// The value of `X-Request-Id`. Quote it when you ask for help.
    request_id: String,
    /// The fields of the request that are wrong, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<FieldProblem>>,
}

/// What is wrong with one field of a request.
#[derive(Debug, PartialEq, Eq, Serialize, Object)]
pub struct FieldProblem {
    /// The field's name or path.
    pub field: String,
    /// What to change, for developers.
    pub message: String,
    /// The position of the mistake in the field, in characters from 0, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
}

impl Refusal {
    /// The problem document as a response.
    pub fn render(self, request: &RequestId) -> Response {
        let mut response = Response::builder().status(self.code.status()).body(());
        *response.headers_mut() = self.headers();
        response.set_body(self.document(request));
        response
    }

    /// The problem document, for the middleware.
    pub fn answer(self, request: &RequestId) -> ErrorResponse {
        ErrorResponse {
            status: self.code.status(),
            headers: self.headers(),
            body: self.document(request),
        }
    }

    /// Its headers.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        if self.code.is_passing() {
            let seconds = self.wait.unwrap_or(SOON);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(challenge) = self.code.challenge() {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static(challenge),
            );
        }
        if let Some(rate) = &self.rate {
            rate_limit_headers::declare(&mut headers, rate);
        }
        headers
    }

    fn document(self, request: &RequestId) -> Vec<u8> {
        let status = self.code.status();
        let problem = Problem {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: self.detail.into_owned(),
            code: self.code.as_str().to_owned(),
            request_id: request.as_str().to_owned(),
            errors: (!self.errors.is_empty()).then_some(self.errors),
        };
        serde_json::to_vec(&problem).expect("a problem has string keys only")
    }
}
