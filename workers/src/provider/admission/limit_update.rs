//! What the outcome of a request says about its provider.

use std::time::Duration;

use crate::provider::{Answer, ProviderError};

/// What an outcome says about the provider.
#[derive(Clone, Copy, Debug)]
pub(super) enum LimitUpdate {
    /// It answers.
    Well,
    /// It answers, and its limit is used up for this time.
    Spent(Duration),
    /// It limits requests, and asks for a pause of this length.
    Limited(Duration),
    /// It refuses all our requests.
    Denied,
    /// It fails.
    Failed,
}

impl LimitUpdate {
    pub(super) fn of(outcome: &Result<Answer, ProviderError>) -> Self {
        match outcome {
            Ok(answer) => answer.spent.map_or(Self::Well, Self::Spent),
            // It looked at the content, so it works.
            Err(ProviderError::Refused(_)) => Self::Well,
            Err(ProviderError::Limited { retry_after, .. }) => {
                Self::Limited(retry_after.unwrap_or_default())
            }
            Err(ProviderError::Denied(told)) if told.status != 403 => Self::Denied,
            Err(ProviderError::NoCredentials(_)) => Self::Denied,
            // A firewall in front of the provider may answer 403 to a single text, so only several
            // in a row count.
            Err(
                ProviderError::Denied(_)
                | ProviderError::Unreachable(_)
                | ProviderError::TimedOut
                | ProviderError::Failed(_)
                | ProviderError::Malformed(_),
            ) => Self::Failed,
        }
    }
}
