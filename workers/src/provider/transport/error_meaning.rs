//! What the status, the headers and the body of an error mean.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};

use super::error_code;
use crate::provider::{ProviderError, Told};

/// The meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It limits our requests.
    Limited,
    /// It had an internal failure.
    Failed,
    /// It refuses this request.
    Refused,
    /// It refuses every request: the key, the account or the address is wrong, or the paid amount
    /// is used up.
    Denied,
}

/// Reads the headers and the body of an error. None if only its status matters.
pub(crate) type Explain = fn(&HeaderMap, &[u8]) -> Option<Meaning>;

impl Meaning {
    /// The meaning of a status by itself.
    pub(super) fn of(status: StatusCode) -> Self {
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::Limited,
            StatusCode::REQUEST_TIMEOUT => Self::Failed,
            StatusCode::UNAUTHORIZED
            | StatusCode::PAYMENT_REQUIRED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED => Self::Denied,
            _ if status.is_server_error() => Self::Failed,
            _ => Self::Refused,
        }
    }

    /// The error, with the requested wait.
    pub(crate) fn error(self, told: Told, retry_after: Option<Duration>) -> ProviderError {
        match self {
            Self::Limited => ProviderError::Limited { told, retry_after },
            Self::Failed => ProviderError::Failed(told),
            Self::Refused => ProviderError::Refused(told),
            Self::Denied => ProviderError::Denied(told),
        }
    }
}

/// The code of an error that has status 200.
pub(crate) fn told(code: &str) -> Told {
    Told {
        status: 200,
        code: error_code::is_word(code).then(|| code.to_owned()),
    }
}
