//! Why a provider has no scores. The `Display` form is stored with items and shown to tenants, so
//! it has no internal details. The code and the cause are for operators, in the log and in
//! `gatehouse check`.

use std::{error::Error, iter::successors, time::Duration};

/// The most characters of a cause.
const LONGEST_CAUSE: usize = 256;

/// Why a provider has no scores for a text or an image. It contains no content and no key.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It could not be reached, or the connection broke.
    #[error("it could not be reached: {0}")]
    Unreachable(#[source] reqwest::Error),
    /// It did not answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// It is overloaded or limits our requests. It may have said when to try again.
    #[error("it limits our requests (HTTP {})", told.status)]
    Limited {
        /// Usually 429 or 503. Some providers use another status and say it in the body.
        told: Told,
        /// What it asked for.
        retry_after: Option<Duration>,
    },
    /// It had an internal failure.
    #[error("it failed (HTTP {})", .0.status)]
    Failed(Told),
    /// It refuses this request.
    #[error("it refused the request (HTTP {})", .0.status)]
    Refused(Told),
    /// It refuses every request, because of the key, the account or the address. The operator must
    /// act.
    #[error("it accepts no request with this key at this address (HTTP {})", .0.status)]
    Denied(Told),
    /// The role of this machine gave us no credentials.
    #[error("there are no valid credentials for it")]
    NoCredentials(NoCredentials),
    /// Its answer does not have the documented form.
    #[error("its answer could not be read: {0}")]
    Malformed(&'static str),
}

/// What a provider said when it refused a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The status of its answer.
    pub status: u16,
    /// The machine-readable code in its answer: 1 to 64 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`.
    pub code: Option<String>,
}

/// Why there are no credentials, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCredentials(pub(super) String);

impl ProviderError {
    /// Every value of [`ProviderError::reason`].
    pub const REASONS: [&str; 7] = [
        "unreachable",
        "timed_out",
        "limited",
        "failed",
        "refused",
        "denied",
        "malformed",
    ];

    /// The reason in one word, for reports and metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Limited { .. } => "limited",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Denied(_) | Self::NoCredentials(_) => "denied",
            Self::Malformed(_) => "malformed",
        }
    }

    /// Whether another attempt may succeed.
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::TimedOut
            | Self::Limited { .. }
            | Self::Failed(_)
            | Self::Denied(_)
            | Self::NoCredentials(_)
            | Self::Malformed(_) => true,
            Self::Refused(_) => false,
        }
    }

    /// What it answered, if it did.
    pub const fn told(&self) -> Option<&Told> {
        match self {
            Self::Limited { told, .. }
            | Self::Failed(told)
            | Self::Refused(told)
            | Self::Denied(told) => Some(told),
            Self::Unreachable(_) | Self::TimedOut | Self::NoCredentials(_) | Self::Malformed(_) => {
                None
            }
        }
    }

    /// The code in its answer.
    pub fn code(&self) -> Option<&str> {
        self.told()?.code.as_deref()
    }

    /// The cause of the error, such as `Connection refused`. Its length is limited, and it has no
    /// URL, key or content.
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Unreachable(error) => causes(error),
            Self::NoCredentials(error) => Some(bounded(&error.0)),
            Self::TimedOut
            | Self::Limited { .. }
            | Self::Failed(_)
            | Self::Refused(_)
            | Self::Denied(_)
            | Self::Malformed(_) => None,
        }
    }
}

impl From<u16> for Told {
    fn from(status: u16) -> Self {
        Self { status, code: None }
    }
}

/// The causes of an error, the outermost first, each once. The error itself is left out, because
/// only there reqwest puts URLs.
pub(super) fn causes(error: &dyn Error) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for cause in successors(error.source(), |cause: &&dyn Error| (*cause).source()) {
        let cause = cause.to_string();
        // Some errors repeat their cause.
        if !told.iter().any(|known| known.contains(&cause)) {
            told.push(cause);
        }
    }
    (!told.is_empty()).then(|| bounded(&told.join(": ")))
}

/// Limits the length to one line of plain characters, because strangers choose the names in
/// certificates.
fn bounded(text: &str) -> String {
    let plain = text.chars().map(|c| match c {
        ' '..='~' => c,
        _ => '?',
    });
    plain.take(LONGEST_CAUSE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: String,
        source: Option<Box<Link>>,
    }

    fn chain(texts: &[&str]) -> Link {
        let mut links = texts.iter().rev();
        let mut link = Link {
            text: (*links.next().unwrap()).to_owned(),
            source: None,
        };
        for text in links {
            link = Link {
                text: (*text).to_owned(),
                source: Some(Box::new(link)),
            };
        }
        link
    }

    #[test]
    fn causes_are_told_once_in_one_bounded_line_and_without_the_error_itself() {
        let told = |texts: &[&str]| causes(&chain(texts));
        assert_eq!(told(&["at http://u:p@h/"]), None);
        assert_eq!(
            told(&[
                "at http://h/",
                "client error",
                "tcp error: refused",
                "refused"
            ])
            .as_deref(),
            Some("client error: tcp error: refused")
        );
        assert_eq!(
            told(&["e", "name \u{202e}x\n\u{1b}[1m"]).as_deref(),
            Some("name ?x??[1m")
        );
        let long = told(&["e", &"x".repeat(1_000)]).unwrap();
        assert_eq!(long.len(), LONGEST_CAUSE);
    }
}
