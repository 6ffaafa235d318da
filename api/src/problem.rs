//! Every refusal as the client sees it: RFC 9457 problem documents.
//!
//! A `code` is stable and machine-readable. What went wrong inside is logged here and never sent.

mod code;

use std::{borrow::Cow, time::Duration};

use domain::{
    limit::{RateScope, RateStanding},
    submission::FieldError,
};
use management::{Fields, Refused};
use poem::{
    Response,
    error::{MethodNotAllowedError, NotFoundError, ResponseError},
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse, Object,
    error::ContentTypeError,
    registry::{MetaResponses, Registry},
};
use serde::Serialize;
use tracing::error;

pub(crate) use code::Code;

use crate::{
    limited, protection,
    request_id::{self, RequestId},
};

/// The content type of every problem document.
pub(crate) const CONTENT_TYPE: &str = "application/problem+json";

/// A refused request. Handlers return it as their error; the front renders it.
#[derive(Debug, thiserror::Error)]
#[error("{}", code.as_str())]
pub(crate) struct Refusal {
    code: Code,
    detail: Cow<'static, str>,
    errors: Vec<FieldProblem>,
    rate: Option<Box<RateStanding>>,
    /// After how many seconds trying again makes sense, where that is known.
    wait: Option<u32>,
}

impl Refusal {
    pub(crate) const fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            rate: None,
            wait: None,
        }
    }

    /// One member of the request is to blame.
    pub(crate) fn field(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        let problem = FieldProblem {
            field: field.into(),
            message: message.into(),
            position: None,
        };
        Self::fields(code, vec![problem])
    }

    /// Several members of the request are to blame.
    pub(crate) fn fields(code: Code, errors: Vec<FieldProblem>) -> Self {
        Self {
            code,
            detail: FIELDS.into(),
            errors,
            rate: None,
            wait: None,
        }
    }

    /// One member of the request is not what it should be.
    pub(crate) fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::field(Code::InvalidRequest, field, message)
    }

    /// The request as a whole is not what it should be.
    pub(crate) fn invalid_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    /// The same words for every key that does not work, so that nobody learns which keys once did.
    pub(crate) fn invalid_api_key() -> Self {
        Self::new(Code::InvalidApiKey, "The api_key is not valid.")
    }

    /// The same words for every token that does not work, for the same reason.
    pub(crate) fn invalid_token() -> Self {
        Self::new(
            Code::InvalidToken,
            "The request needs a valid token: Authorization: Bearer mgmt_...",
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            Code::InternalError,
            "Something went wrong on our side. Please try again.",
        )
    }

    pub(crate) fn overloaded() -> Self {
        Self::new(
            Code::Overloaded,
            "Too much is waiting at the moment. Please try again.",
        )
    }

    pub(crate) fn unavailable() -> Self {
        Self::new(
            Code::Overloaded,
            "The database does not answer at the moment. Please try again.",
        )
    }

    /// The requests of this minute are used up, of the key or of its team.
    pub(crate) fn rate_limited(rate: RateStanding, reached: RateScope) -> Self {
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

    /// The team has sent so many requests at once that the turn of this one is too far away.
    pub(crate) fn hurried(rate: RateStanding, wait: Duration) -> Self {
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

    /// Tells, too, where the site key and its team stand in the present minute; unless the key has just been disabled, which
    /// nobody is told.
    pub(crate) fn within(mut self, rate: RateStanding) -> Self {
        self.rate = (self.code != Code::InvalidApiKey).then(|| Box::new(rate));
        self
    }

    #[cfg(test)]
    pub(crate) fn into_parts(self) -> (Code, String, Vec<FieldProblem>) {
        (self.code, self.detail.into_owned(), self.errors)
    }

    /// The problem document as a response.
    pub(crate) fn render(self, request: &RequestId) -> Response {
        let mut response = Response::builder().status(self.code.status()).body(());
        *response.headers_mut() = self.headers();
        response.set_body(self.document(request));
        response
    }

    /// The same as the bytes of a response after which the connection closes, for where no request was read.
    pub(crate) fn render_raw(self, request: &RequestId) -> Vec<u8> {
        let mut headers = self.headers();
        protection::protect(&mut headers);
        let status = self.code.status();
        let body = self.document(request);
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        let mut answer = format!(
            "HTTP/1.1 {status}\r\n{}: {}\r\n",
            request_id::HEADER,
            request.as_str()
        )
        .into_bytes();
        for (name, value) in &headers {
            answer.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        answer.extend_from_slice(b"\r\n");
        answer.extend(body);
        answer
    }

    fn headers(&self) -> HeaderMap {
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
            limited::declare(&mut headers, rate);
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

/// After how many seconds trying again makes sense when nobody knows better.
const SOON: u32 = 1;

const FIELDS: &str = "The request has members that are missing or not valid; see errors.";

impl From<Vec<FieldError>> for Refusal {
    /// The first mistake gives the code.
    fn from(errors: Vec<FieldError>) -> Self {
        let code = errors
            .first()
            .map_or(Code::InvalidRequest, |error| error.fault.into());
        let errors = errors.into_iter().map(|e| FieldProblem {
            field: e.field.into_owned(),
            message: e.message,
            position: None,
        });
        Self::fields(code, errors.collect())
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let detail = refused.to_string();
        match refused {
            Refused::Unauthenticated => Self::invalid_token(),
            Refused::Forbidden(why, detail) => Self::new(why.into(), detail),
            Refused::NotFound(_) => Self::new(Code::NotFound, detail),
            Refused::Fields(fields) => fields.into(),
            Refused::Invalid(detail) => Self::invalid_request(detail),
            Refused::Conflict(what, detail) => Self::new(what.into(), detail),
            Refused::RateLimited { seconds, .. } => Self {
                wait: Some(seconds),
                ..Self::new(Code::RateLimited, detail)
            },
            Refused::TooManyPings { seconds } => Self {
                wait: Some(seconds),
                ..Self::new(Code::TooManyPings, detail)
            },
            Refused::SignInFailed => Self::new(Code::SignInFailed, detail),
            Refused::WrongCode => Self::new(Code::FactorNotProved, detail),
            Refused::TooManyTries { seconds } => Self {
                wait: Some(seconds),
                ..Self::new(Code::TooManyTries, detail)
            },
            Refused::Overloaded => Self::overloaded(),
            Refused::Store(error) => error.into(),
            Refused::Internal => Self::internal(),
        }
    }
}

impl From<Fields> for Refusal {
    fn from(fields: Fields) -> Self {
        let problems = fields.problems.into_iter().map(|problem| FieldProblem {
            field: problem.field,
            message: problem.message,
            position: problem.position,
        });
        let mut refusal = Self::fields(fields.fault.into(), problems.collect());
        if let Some(most) = fields.cut_at {
            refusal.detail = format!("{FIELDS} Only the first {most} mistakes are listed.").into();
        }
        refusal
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Overloaded => Self::overloaded(),
            store::Error::Unavailable => Self::unavailable(),
            store::Error::Sql(error) => {
                error!(%error, "a database query failed");
                Self::unavailable()
            }
            store::Error::Unreadable(error) => {
                error!(%error, "a stored value cannot be read");
                Self::internal()
            }
            store::Error::NameTaken => Self::new(
                Code::NameTaken,
                "Another one has this name already; names are unique.",
            ),
            store::Error::UnknownPlan => Self::invalid_field("plan_id", "is no plan"),
            store::Error::LimitReached(limit) => Self::new(Code::LimitReached, limit.to_string()),
            store::Error::TooManyDeleted(deleted) => Self::new(
                Code::LimitReached,
                format!(
                    "The site has deleted {deleted} webhook endpoints whose deliveries are still kept, which is the most. Change an \
                     endpoint that exists, or wait until the retention has removed the deliveries of deleted ones."
                ),
            ),
        }
    }
}

impl ResponseError for Refusal {
    fn status(&self) -> StatusCode {
        self.code.status()
    }
}

/// What an operation may be refused with is put into the document from tables.
impl ApiResponse for Refusal {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: Vec::new(),
        }
    }

    fn register(_registry: &mut Registry) {}
}

/// An error document as RFC 9457 describes it, with a stable `code`.
#[derive(Debug, Serialize, Object)]
pub(crate) struct Problem {
    /// Always `about:blank`: `code` tells the kind of problem.
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
pub(crate) struct FieldProblem {
    /// The field's name or path.
    pub(crate) field: String,
    /// What to change, for developers.
    pub(crate) message: String,
    /// The character of the field, from 0, at which it goes wrong, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<usize>,
}

/// What a handler's or the router's error becomes.
pub(crate) fn answer(error: poem::Error, request: &RequestId) -> Response {
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
