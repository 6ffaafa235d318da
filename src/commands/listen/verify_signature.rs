//! What a receiver concludes from the signature headers of a request.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use domain::signature::{
    SERVICE_SIGNATURE, SERVICE_SIGNATURE_PREVIOUS, STANDARD_ID, STANDARD_SIGNATURE,
    STANDARD_TIMESTAMP, Unverified, WebhookSecret, verify_service, verify_standard,
};
use hyper::HeaderMap;

/// The conclusion; it displays as one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// One result for each scheme.
    Checked {
        service: Result<(), Flaw>,
        standard: Result<(), Flaw>,
    },
    /// Nothing to verify with, and why.
    NoSecret(String),
}

/// Why one scheme's signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    #[error("missing")]
    Missing,
    #[error("{0}")]
    Unverified(#[from] Unverified),
}

impl Verdict {
    /// Whether a real receiver would refuse this request.
    pub(super) fn is_rejection(&self) -> bool {
        match self {
            Self::Checked { service, standard } => service.is_err() || standard.is_err(),
            Self::NoSecret(_) => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checked {
                service: Ok(()),
                standard: Ok(()),
            } => f.write_str("signatures verified"),
            Self::Checked { service, standard } => {
                f.write_str("NOT VERIFIED")?;
                if let Err(flaw) = service {
                    write!(f, "; {SERVICE_SIGNATURE}: {flaw}")?;
                }
                if let Err(flaw) = standard {
                    write!(f, "; {STANDARD_SIGNATURE}: {flaw}")?;
                }
                Ok(())
            }
            Self::NoSecret(reason) => write!(f, "not verified, no secret ({reason})"),
        }
    }
}

/// Checks both schemes. During a rotation the previous secret's signature counts as well.
pub(super) fn verify(secret: &WebhookSecret, headers: &HeaderMap, body: &[u8]) -> Verdict {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .ok_or(Flaw::Missing)
    };
    let service = |name| Ok::<_, Flaw>(verify_service(secret, text(name)?, body)?);
    let standard = || {
        let (id, at, signatures) = (
            text(STANDARD_ID)?,
            text(STANDARD_TIMESTAMP)?,
            text(STANDARD_SIGNATURE)?,
        );
        Ok(verify_standard(
            secret,
            id,
            at,
            signatures,
            body,
            unix_now(),
        )?)
    };
    Verdict::Checked {
        service: service(SERVICE_SIGNATURE)
            .or_else(|flaw| service(SERVICE_SIGNATURE_PREVIOUS).map_err(|_| flaw)),
        standard: standard(),
    }
}

fn unix_now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
