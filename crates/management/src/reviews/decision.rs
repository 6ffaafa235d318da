//! A decision in a review, and undoing it.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{ActorId, ReviewId, ReviewPolicyId, TeamId},
    media::Ruling,
    reason::Reason,
    scope::Scope,
};
use serde_json::json;
use store::review::{self, NewOpinion, UsedPolicy};

use super::{ReviewView, lock_own, own, reviewer};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, record};

/// What applications are told about an approval without a reason.
const APPROVED: &str = "Approved by a moderator.";

/// What somebody decides.
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// Whether the item may be displayed.
    pub ruling: Ruling,
    /// By which policy an item is rejected.
    pub policy: Option<ReviewPolicyId>,
    /// The reason, which the application can read. `None`: that of the policy.
    pub reason: Option<Reason>,
}

/// A decision that can still be undone.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The review.
    pub review: ReviewId,
    /// What was decided.
    pub ruling: Ruling,
    /// Until when it can be undone. Then it is told, or a second person is asked.
    pub until: DateTime<Utc>,
}

/// Holds a decision until the time to undo it is over.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more; there is no such policy;
/// a rejection has neither policy nor reason.
#[boxed]
pub async fn decide(caller: &Caller, review: ReviewId, new: NewDecision) -> Result<Held, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    session.require_own_site(locked.site)?;
    let policy = policy(&mut session, locked.team, &new).await?;
    let reason = reason(&new, policy.as_ref())?;
    let undo = review::undo_seconds(session.conn(), locked.site).await?;
    let opinion = NewOpinion {
        review: &locked,
        by: actor,
        ruling: new.ruling,
        policy: policy.as_ref(),
        reason: &reason,
        undo,
        bulk: None,
    };
    let held = review::say(session.conn(), opinion).await?;
    let details = json!({
        "review_id": review,
        "decision": new.ruling,
        "policy": policy.as_ref().map(|policy| &policy.code),
    });
    let action = Action::ReviewDecide;
    record(session, action, locked.team, locked.media, details).await?;
    caller.management.queue.enqueued(&held.jobs);
    Ok(Held {
        review,
        ruling: new.ruling,
        until: held.until,
    })
}

/// Undoes the caller's decision while it is held. The caller has the review again.
///
/// # Errors
/// The caller may not decide items, or has decided nothing in this review; it was told already.
#[boxed]
pub async fn undo(caller: &Caller, review: ReviewId) -> Result<ReviewView, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (actor, _) = reviewer(&session)?;
    let reach = session.reach();
    let locked = review::lock(session.conn(), reach, review).await?;
    let Some(locked) = locked else {
        return Err(ended(&mut session, review, actor).await?);
    };
    if !review::undo(session.conn(), review, actor).await? {
        return Err(if locked.leased_by == Some(actor) {
            Refused::conflict(
                Conflict::ReviewUndecided,
                "You have not decided here, so there is nothing to undo.",
            )
        } else {
            ended(&mut session, review, actor).await?
        });
    }
    let shown = own(&caller.management, &mut session, review).await?;
    let details = json!({ "review_id": review });
    let action = Action::ReviewUndo;
    record(session, action, locked.team, locked.media, details).await?;
    Ok(shown)
}

/// Why somebody can undo nothing in a review that has ended, or that is somebody else's.
async fn ended(
    session: &mut Session,
    review: ReviewId,
    actor: ActorId,
) -> Result<Refused, Refused> {
    let reach = session.reach();
    let told = review::has_spoken(session.conn(), reach, review, actor).await?;
    Ok(if told {
        Refused::conflict(
            Conflict::ReviewTold,
            "The time to undo this is over. Somebody who may decide can overturn it on the item's page.",
        )
    } else {
        Refused::NotFound(Noun::Review)
    })
}

/// The policy that a rejection names.
pub(super) async fn policy(
    session: &mut Session,
    team: TeamId,
    new: &NewDecision,
) -> Result<Option<UsedPolicy>, Refused> {
    let Some(id) = new.policy else {
        return Ok(None);
    };
    if new.ruling == Ruling::Approve {
        return Err(Refused::field("policy_id", "is only for rejections"));
    }
    let policy = review::policy(session.conn(), team, id).await?;
    let unknown = || Refused::field("policy_id", "is no policy of your team");
    policy.map(Some).ok_or_else(unknown)
}

/// What the application is told.
pub(super) fn reason(new: &NewDecision, policy: Option<&UsedPolicy>) -> Result<Reason, Refused> {
    if let Some(reason) = &new.reason {
        return Ok(reason.clone());
    }
    let text = match (new.ruling, policy) {
        (Ruling::Approve, _) => APPROVED.to_owned(),
        (Ruling::Reject, Some(policy)) => policy.reason.clone(),
        (Ruling::Reject, None) => {
            return Err(Refused::field(
                "reason",
                "is required for a rejection without a policy",
            ));
        }
    };
    Reason::try_from(text).map_err(|_| Refused::Internal)
}
