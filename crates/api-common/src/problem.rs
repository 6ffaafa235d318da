//! Refusals, as clients see them: RFC 9457 problem documents.
//!
//! A `code` is stable and machine-readable. Internal errors are logged here and never sent.

mod code;
mod from_errors;
mod headers;

use std::{borrow::Cow, time::Duration};

use domain::rate_limit::{RateScope, RateStanding};
use http_server::{ErrorResponse, RequestId};
use poem::{
    Response,
    error::{MethodNotAllowedError, NotFoundError, ResponseError},
    http::StatusCode,
};
use poem_openapi::{
    ApiResponse,
    error::ContentTypeError,
    registry::{MetaResponses, Registry},
};
use serde::Serialize;
use tracing::error;

use crate::Schema;

pub use self::code::Code;

const FIELDS: &str = "The request has members that are missing or not valid; see errors.";

/// A refused request. Handlers return it as their error; the middleware renders it.
#[derive(Debug, thiserror::Error)]
#[error("{}", code.as_str())]
pub struct Refusal {
    code: Code,
    detail: Cow<'static, str>,
    errors: Vec<FieldProblem>,
    rate: Option<Box<RateStanding>>,
    /// In how many seconds to try again, if known.
    wait: Option<u32>,
}

impl Refusal {
    /// A refusal with this code, for this reason.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            rate: None,
            wait: None,
        }
    }

    /// One member of the request is wrong in this way.
    pub fn field(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        let problem = FieldProblem {
            field: field.into(),
            message: message.into(),
            position: None,
        };
        Self::fields(code, vec![problem])
    }

    /// Several members of the request are wrong in this way.
    pub fn fields(code: Code, errors: Vec<FieldProblem>) -> Self {
        Self {
            code,
            detail: FIELDS.into(),
            errors,
            rate: None,
            wait: None,
        }
    }

    /// One member of the request is not valid.
    pub fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::field(Code::InvalidRequest, field, message)
    }

    /// The request as a whole is not valid.
    pub fn invalid_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    /// The same words for every key that does not work, so that nobody learns which keys once did.
    pub fn invalid_api_key() -> Self {
        Self::new(Code::InvalidApiKey, "The api_key is not valid.")
    }

    /// The same words for every token that does not work, for the same reason.
    pub fn invalid_token() -> Self {
        Self::new(
            Code::InvalidToken,
            "The request needs a valid token: Authorization: Bearer mgmt_...",
        )
    }

    /// An error that is ours. The log has its reason.
    pub fn internal() -> Self {
        Self::new(
            Code::InternalError,
            "Something went wrong on our side. Please try again.",
        )
    }

    /// More is waiting than the service can take.
    pub fn overloaded() -> Self {
        Self::new(
            Code::Overloaded,
            "Too much is waiting at the moment. Please try again.",
        )
    }

    /// The database cannot be reached.
    pub fn unavailable() -> Self {
        Self::new(
            Code::Overloaded,
            "The database does not answer at the moment. Please try again.",
        )
    }

    /// The key or its team has used up the requests of this minute.
    pub fn rate_limited(rate: RateStanding, reached: RateScope) -> Self {
        let window = rate.of(reached);
        let whose = match reached {
            RateScope::Key => "The site key's",
            RateScope::Team => "The team's",
        };
        let detail = format!(
            "{whose} {} requests of this minute are used up (`{}`). Please try again in {} s.",
            window.limit, window.name, window.resets_in
        );
        Self {
            wait: Some(window.resets_in),
            ..Self::new(Code::RateLimited, detail).within(rate)
        }
    }

    /// The team has sent so many requests at once that this one would wait too long for its turn.
    pub fn hurried(rate: RateStanding, wait: Duration) -> Self {
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).max(1);
        let detail = format!(
            "The team's requests are spread over the minute, at {} a minute (`{}`), and too many of them wait for their turn. \
             Please try again in {seconds} s.",
            rate.team.limit, rate.team.name
        );
        Self {
            wait: Some(seconds),
            ..Self::new(Code::RateLimited, detail).within(rate)
        }
    }

    /// Adds the rate limits of the site key and its team in the present minute. A key that was just
    /// disabled gets none.
    pub fn within(mut self, rate: RateStanding) -> Self {
        self.rate = (self.code != Code::InvalidApiKey).then(|| Box::new(rate));
        self
    }

    /// Why the request is refused.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What is wrong, and with which members, for people.
    pub fn into_words(self) -> (String, Vec<FieldProblem>) {
        (self.detail.into_owned(), self.errors)
    }

    /// Its code, its reason, and what is wrong with members of the request.
    pub fn into_parts(self) -> (Code, String, Vec<FieldProblem>) {
        (self.code, self.detail.into_owned(), self.errors)
    }
}

impl ResponseError for Refusal {
    fn status(&self) -> StatusCode {
        self.code.status()
    }
}

/// The document gets the problems of each operation from tables.
impl ApiResponse for Refusal {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: Vec::new(),
        }
    }

    fn register(_registry: &mut Registry) {}
}

/// The content type of every problem document.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// An error document as RFC 9457 describes it, with a stable `code`.
#[derive(Debug, Serialize, Schema)]
pub struct Problem {
    /// Always `about:blank`: see `code` for the kind of problem.
    #[serde(rename = "type")]
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
#[derive(Debug, PartialEq, Eq, Serialize, Schema)]
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

/// The answer for an error of a handler or of the router.
pub fn response(error: poem::Error, request: &RequestId) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let error = match error.downcast::<Refusal>() {
        Ok(refusal) => return refusal.render(request),
        Err(error) => error,
    };
    let refusal = if error.is::<NotFoundError>() {
        Refusal::new(
            Code::NotFound,
            "There is nothing at this path. / leads to the descriptions of the interfaces.",
        )
    } else if error.is::<MethodNotAllowedError>() {
        Refusal::new(
            Code::MethodNotAllowed,
            "This path does not take this method; see Allow.",
        )
    } else if error.is::<ContentTypeError>() {
        Refusal::new(
            Code::UnsupportedMediaType,
            "The body must be sent as a media type that the operation takes, mostly application/json.",
        )
    } else if error.status().is_client_error() {
        Refusal::invalid_request("The request could not be understood.")
    } else {
        error!(request.id = request.as_str(), %error, "a request failed");
        Refusal::internal()
    };
    refusal.render(request)
}
