//! Why there is no answer.

use std::{error, time::Duration};

use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

use crate::document::{FieldProblem, Problem};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refuses the request, or failed too often.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No answer arrived: the connection was refused or broke, or the time is over. Or no request was
    /// sent: the URL or the idempotency key is not valid.
    #[error("the service does not answer")]
    Unreachable(#[source] reqwest::Error),
    /// Something answered that is not Gatehouse, or not version 1 of its interface.
    #[error("the answer is not one of Gatehouse's")]
    Unreadable(#[source] serde_json::Error),
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made")]
    Setup(#[source] Box<dyn error::Error + Send + Sync>),
}

impl Error {
    /// Whether the same request may succeed later. The client has repeated it already.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.is_passing(),
            Self::Unreachable(error) => !error.is_builder(),
            Self::Unreadable(_) | Self::Setup(_) => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refused) => refused.retry_after,
            Self::Unreachable(_) | Self::Unreadable(_) | Self::Setup(_) => None,
        }
    }
}

/// The service refuses a request, or failed too often.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{code}: {detail}")]
#[non_exhaustive]
pub struct Refused {
    /// The status of the answer.
    pub status: u16,
    /// Why, for programs. A code never changes its meaning, and codes may be added: handle one that you
    /// do not know by the status. `unknown` if the answer has none, for example that of a proxy.
    pub code: String,
    /// What is wrong, and what to do, for people.
    pub detail: String,
    /// What is wrong with single members of the request.
    pub errors: Vec<FieldProblem>,
    /// Quote it when you ask the operator for help.
    pub request_id: Option<String>,
    /// How long the service asks you to wait before the next request, in whole seconds.
    pub retry_after: Option<Duration>,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let header = |name| headers.get(name)?.to_str().ok();
        let retry_after = header(RETRY_AFTER.as_str())
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs);
        let status = status.as_u16();
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => Self {
                status,
                code: problem.code,
                detail: problem.detail,
                errors: problem.errors,
                request_id: Some(problem.request_id),
                retry_after,
            },
            Err(_) => Self {
                status,
                code: "unknown".to_owned(),
                detail: format!("the answer is {status}"),
                errors: Vec::new(),
                request_id: header("x-request-id").map(str::to_owned),
                retry_after,
            },
        }
    }

    fn is_passing(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..)
    }
}
