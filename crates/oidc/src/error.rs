//! Why an attempt failed, for the log. No variant contains a token, a code or a secret.

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The provider could not be reached, or the connection broke.
    #[error("the provider cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// The provider took too long.
    #[error("the provider did not answer in time")]
    TimedOut,
    /// The last request failed a moment ago, so the provider is not asked again yet.
    #[error("the provider failed a moment ago, and is not asked again yet")]
    Resting,
    /// An answer is longer than anything that is needed.
    #[error("the provider's answer is longer than {0} bytes")]
    TooLarge(usize),
    /// The provider answered with this status.
    #[error("the provider answered with the status {status} ({error})")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The code of the error (RFC 6749), such as `invalid_grant`.
        error: String,
    },
    /// An answer is not what the standard says.
    #[error("the provider's answer is malformed: {0}")]
    Malformed(&'static str),
    /// The discovery document is that of another issuer.
    #[error(
        "the provider says that its issuer is {found:?}: set exactly this, or correct the address"
    )]
    OtherIssuer {
        /// What the document says.
        found: String,
    },
    /// An address in the discovery document is not HTTPS.
    #[error("the provider's {0} is not an https address")]
    Insecure(&'static str),
    /// The ID token, or what came with it, is not to be trusted.
    #[error("the provider's answer cannot be trusted: {0}")]
    Untrusted(&'static str),
}

impl Failed {
    /// Whether the provider is out of order, rather than its answer wrong.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut | Self::Resting => true,
            Self::Status { status, .. } => *status >= 500 || *status == 429,
            Self::TooLarge(_)
            | Self::Malformed(_)
            | Self::OtherIssuer { .. }
            | Self::Insecure(_)
            | Self::Untrusted(_) => false,
        }
    }
}
