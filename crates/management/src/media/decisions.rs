//! A moderator's decision about an item.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{MediaId, SiteId},
    media::{NoRuling, Ruling, Seen, Step},
    reason::Reason,
    scope::Scope,
};
use serde_json::json;
use store::media;

use crate::{Caller, Change, Management, Noun, Refused};

/// What a moderator decides.
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// Whether the item may be displayed.
    pub ruling: Ruling,
    /// The reason. The application can read it.
    pub reason: Reason,
    /// What the moderator saw of the item. If it is different by now, nothing is decided.
    pub seen: Seen,
}

/// A decision that is in force.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// The item.
    pub media: MediaId,
    /// The status before and after, and the number of the verdict.
    pub step: Step,
    /// When it was decided.
    pub moderated_at: DateTime<Utc>,
}

/// Whether the caller can decide about items of this site.
///
/// # Errors
/// The caller may not see items.
pub async fn may_decide(
    management: &Management,
    caller: &Caller,
    site: SiteId,
) -> Result<bool, Refused> {
    let session = management.read(caller, Scope::MediaRead).await?;
    Ok(session.has(Scope::MediaDecide) && session.require_own_site(site).is_ok())
}

/// Stores a decision with its event and deliveries, and wakes the workers.
///
/// # Errors
/// The caller may not do it; there is no such item within reach; it is pending, has that verdict already, or somebody else
/// decided meanwhile.
pub async fn decide(
    management: &Management,
    caller: &Caller,
    media: MediaId,
    new: NewDecision,
) -> Result<Decided, Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, standing) = found.ok_or(Refused::NotFound(Noun::Media))?;
    if session.has_own_sites() {
        let site = media::site_of(session.conn(), media).await?;
        session.require_own_site(site)?;
    }
    let step = standing.ruled(new.ruling, new.seen)?;

    let decision = media::Decision {
        media,
        step,
        reason: &new.reason,
        moderator: session.actor(),
    };
    let decided = media::decide(session.conn(), decision).await?;
    let Some(decided) = decided else {
        // Somebody else decided between the two statements. This one waited for that commit.
        let now = media::standing(session.conn(), reach, media).await?;
        let now = now.filter(|_| new.seen.verdict.is_some());
        let changed = now.map_or(NoRuling::Changed, |(_, now)| NoRuling::VerdictChanged(now));
        return Err(changed.into());
    };
    let (from, to) = (step.from().status, step.to());
    session
        .commit(Change {
            action: Action::MediaDecide,
            team: Some(team),
            target: media.as_uuid(),
            details: json!({
                "changed": { "status": { "from": from, "to": to } },
                "verdict": step.number(),
            }),
        })
        .await?;
    management.queue.enqueued(&decided.jobs);
    Ok(Decided {
        media,
        step,
        moderated_at: decided.moderated_at,
    })
}
