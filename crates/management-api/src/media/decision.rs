//! A moderator's decision.

use api_common::field::{Field, Time, given};
use domain::{
    media::{ModerationType, Ruling, Seen, Status, VerdictNumber},
    reason::Reason,
};
use management::media;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::openapi::example_values;

/// A moderator's decision.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// Whether the item may be displayed.
    decision: Field<Ruling>,
    /// The reason. The application can read it.
    reason: Field<Reason>,
    /// The item's status when the moderator looked at it. If it has another status by now, nothing is decided.
    #[serde(default, deserialize_with = "given")]
    expected_status: Option<Field<Status>>,
    /// The item's `verdict` when the moderator looked at it. If another verdict is in force by now, nothing is decided.
    /// This is stricter than `expected_status`: an item can get the same status again, but never the same number.
    #[serde(default, deserialize_with = "given")]
    expected_verdict: Option<Field<VerdictNumber>>,
}

/// A decision that is in force.
#[derive(Serialize, Object)]
pub(crate) struct Decided {
    /// The item.
    media_id: Uuid,
    /// Its status now.
    status: Field<Status>,
    /// Its status before.
    previous_status: Field<Status>,
    /// Always `manual`.
    moderation_type: Field<ModerationType>,
    /// When it was decided.
    moderated_at: Field<Time>,
    /// The number of this verdict. An item's verdicts count from 1.
    verdict: u16,
}

impl From<NewDecision> for media::NewDecision {
    fn from(new: NewDecision) -> Self {
        Self {
            ruling: new.decision.0,
            reason: new.reason.0,
            seen: Seen {
                status: new.expected_status.map(|status| status.0),
                verdict: new.expected_verdict.map(|verdict| verdict.0),
            },
        }
    }
}

impl From<media::Decided> for Decided {
    fn from(decided: media::Decided) -> Self {
        let step = decided.step;
        Self {
            media_id: decided.media.as_uuid(),
            status: Field(step.to()),
            previous_status: Field(step.from().status),
            moderation_type: Field(ModerationType::Manual),
            moderated_at: decided.moderated_at.into(),
            verdict: step.number(),
        }
    }
}

pub(super) fn example_request() -> Value {
    json!({
        "decision": "approve",
        "reason": "Satire, clearly marked as such.",
        "expected_verdict": 1,
    })
}

pub(super) fn example() -> Value {
    json!({
        "media_id": example_values::MEDIA,
        "status": "approved",
        "previous_status": "pending_review",
        "moderation_type": "manual",
        "moderated_at": "2026-01-31T14:30:00.123456Z",
        "verdict": 2,
    })
}
