//! Why a submission is refused, in words.

use api_common::{Code, Refusal};
use store::accept::{self, Acceptance};

/// The problems that this operation can answer with.
pub(crate) const REFUSALS: &[Code] = &[
    Code::InvalidRequest,
    Code::EmptySubmission,
    Code::ConflictingContent,
    Code::TextTooLarge,
    Code::ImageTooLarge,
    Code::InvalidImage,
    Code::UnsupportedImage,
    Code::UnknownRuleGroup,
    Code::InvalidApiKey,
    Code::NoActiveSubscription,
    Code::SiteClosed,
    Code::QuotaExceeded,
    Code::RequestTimeout,
    Code::IdempotencyConflict,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::RateLimited,
    Code::InternalError,
    Code::Overloaded,
];

/// Counts a submission that could not be prepared.
/// [`Acceptor::accept`](store::accept::Acceptor::accept) counts the others.
pub(super) fn turned_away(error: store::Error) -> Refusal {
    accept::turned_away(&error);
    error.into()
}

pub(super) fn refusal(acceptance: Acceptance) -> Refusal {
    let (code, detail) = match acceptance {
        Acceptance::NoSubscription => (
            Code::NoActiveSubscription,
            "The team has no active subscription.",
        ),
        Acceptance::QuotaExceeded => (
            Code::QuotaExceeded,
            "The team has used up the submissions of its plan for this billing period.",
        ),
        Acceptance::DeliveriesExceeded => (
            Code::QuotaExceeded,
            "The webhooks that the submission causes are more than the team's plan has left of its deliveries for this billing \
             period.",
        ),
        Acceptance::IdempotencyConflict => (
            Code::IdempotencyConflict,
            "Another request was accepted under this Idempotency-Key: repeat that one unchanged, or use a new key.",
        ),
        Acceptance::Refused => (
            Code::InvalidRequest,
            "The submission cannot be stored as it is: one of its values is more than the database takes.",
        ),
        Acceptance::Failed => (
            Code::InternalError,
            "The submission could not be stored. Trying again will not help: report the request_id to the operator.",
        ),
        Acceptance::Untried => (
            Code::Overloaded,
            "Several submissions of your team could not be stored, and this one arrived together with them. Send it again.",
        ),
        Acceptance::Accepted | Acceptance::Repeated(_) | Acceptance::Stale => {
            return Refusal::overloaded();
        }
    };
    Refusal::new(code, detail)
}
