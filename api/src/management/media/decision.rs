//! A moderator's decision.

use domain::{
    audit::Action,
    id::MediaId,
    media::{ModerationType, Ruling, Status},
    reason::Reason,
    scope::Scope,
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::media;
use uuid::Uuid;

use super::unknown;
use crate::{
    management::{
        Management,
        document::example,
        session::{Caller, Change},
    },
    member::{Member, Time, given},
    problem::Refusal,
};

/// What a moderator decides.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NewDecision {
    /// Whether the item may be displayed.
    decision: Member<Ruling>,
    /// Why. The application gets to read it.
    reason: Member<Reason>,
    /// Where the item stood when the moderator looked at it: if it does not stand there any more, nothing is decided.
    #[serde(default, deserialize_with = "given")]
    expected_status: Option<Member<Status>>,
}

/// A decision that is in force.
#[derive(Serialize, Object)]
pub(in super::super) struct Decided {
    /// The item.
    media_id: Uuid,
    /// Where it stands now.
    status: Member<Status>,
    /// Where it stood before.
    previous_status: Member<Status>,
    /// Always `manual`.
    moderation_type: Member<ModerationType>,
    /// When it was decided.
    moderated_at: Member<Time>,
    /// The number of this verdict; an item's verdicts count from 1.
    verdict: u16,
}

/// Stores the decision with everything that follows from it, and tells the workers.
pub(super) async fn decide(
    management: &Management,
    caller: &Caller,
    media: MediaId,
    request: NewDecision,
) -> Result<Decided, Refusal> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
    let of = session.only_team();
    let found = media::standing(session.conn(), of, media).await?;
    let (team, standing) = found.ok_or_else(unknown)?;
    let expected = request.expected_status.map(|status| status.0);
    let step = standing.ruled(request.decision.0, expected)?;

    let decision = media::Decision {
        media,
        step,
        reason: &request.reason,
        moderator: session.actor(),
    };
    let decided = media::decide(session.conn(), decision).await?;
    let decided = decided.ok_or_else(Refusal::media_changed)?;
    let (from, to) = (step.from().status, step.to());
    session
        .commit(Change {
            action: Action::MediaDecide,
            team: Some(team),
            target: media.as_uuid(),
            details: json!({ "changed": { "status": { "from": from, "to": to } }, "verdict": step.number() }),
        })
        .await?;
    management.queue.enqueued(&decided.jobs);
    Ok(Decided {
        media_id: media.as_uuid(),
        status: Member(to),
        previous_status: Member(from),
        moderation_type: Member(ModerationType::Manual),
        moderated_at: decided.moderated_at.into(),
        verdict: step.number(),
    })
}

pub(super) fn example_request() -> Value {
    json!({
        "decision": "approve",
        "reason": "Satire, clearly marked as such.",
        "expected_status": "pending_review",
    })
}

pub(super) fn example() -> Value {
    json!({
        "media_id": example::MEDIA,
        "status": "approved",
        "previous_status": "pending_review",
        "moderation_type": "manual",
        "moderated_at": "2026-01-31T14:30:00.123456Z",
        "verdict": 2,
    })
}
