//! AI providers: one file each. A provider maps what it says to our categories; a category that it cannot score is absent,
//! never 0.

mod builtin;
mod openai;

use std::{sync::Arc, time::Duration};

use domain::score::Scores;
use futures::future::BoxFuture;

pub use builtin::Builtin;
pub use openai::OpenAi;

/// Someone who scores texts.
pub trait Provider: Send + Sync {
    /// Its name in traces, reasons and metrics.
    fn name(&self) -> &'static str;

    /// Scores a text of up to 100 KB, within a deadline of its own.
    fn analyse<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Scores, ProviderError>>;
}

/// The providers that an operator configured; each text is shown to all of them.
pub type Providers = Arc<[Arc<dyn Provider>]>;

/// Why a provider has no scores for a text. Holds nothing of the text and no key.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It could not be reached, or did not answer in time.
    #[error("it could not be reached: {0}")]
    Unreachable(#[source] reqwest::Error),
    /// It is overloaded or limits our requests; it may have said when to come again.
    #[error("it limits our requests (HTTP {status})")]
    Limited {
        /// 429 or 503.
        status: u16,
        /// What it asked for.
        retry_after: Option<Duration>,
    },
    /// It failed by itself.
    #[error("it failed (HTTP {0})")]
    Failed(u16),
    /// It refuses what it is sent or who sends it: the operator must act.
    #[error("it refused the request (HTTP {0})")]
    Refused(u16),
    /// Its answer is not of its documented form.
    #[error("its answer could not be read: {0}")]
    Malformed(String),
}

impl ProviderError {
    /// Every value of [`ProviderError::reason`].
    pub const REASONS: [&str; 5] = ["unreachable", "limited", "failed", "refused", "malformed"];

    /// The metric label.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Limited { .. } => "limited",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Malformed(_) => "malformed",
        }
    }

    /// Whether another attempt may succeed.
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Limited { .. } | Self::Failed(_) | Self::Malformed(_) => {
                true
            }
            Self::Refused(_) => false,
        }
    }
}
