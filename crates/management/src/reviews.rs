//! Reviews: what people are asked to look at on the desk, and what they decide.
//!
//! A review is one person's at a time: [`claim`] leases it. A decision is held until the time to
//! [`undo`] it is over. Then a job tells it, whatever became of the process, the browser or the
//! person. Nobody learns of a review that is somebody else's.

pub mod bulk;
mod decision;
mod exposure;
mod golden_set;
mod lease;
mod notes;
pub mod quality;
mod view;

use domain::{
    actor::Actor,
    id::{ActorId, ReviewId, TeamId},
    review::Tier,
    scope::Scope,
};
use store::review::{self, Locked, NewClaim};
pub use store::review::{AuthorHistory, Earlier, Note, Review, Waiting, golden::GoldenItem};

use crate::{Caller, Conflict, Management, Noun, Refused, Session, media::previews};

pub use self::{
    decision::{Held, NewDecision, decide, undo},
    exposure::{Exposure, Exposures, exposures},
    golden_set::{golden_items, golden_of, set_golden, unset_golden},
    lease::{escalate, renew, skip, unveil},
    notes::{add_note, add_note_to, notes_of},
    view::ReviewView,
};

/// The reviews that the caller has, and if these are fewer than `most`, the most urgent ones that
/// nobody has. Those become the caller's, for [`LEASE`](domain::review::LEASE). Leads are asked
/// first what waits for leads.
///
/// # Errors
/// The caller may not decide items.
pub async fn claim(
    management: &Management,
    caller: &Caller,
    most: usize,
) -> Result<Vec<ReviewView>, Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
    let (actor, team) = reviewer(&session)?;
    let sites = session.person().and_then(|person| person.sites.clone());
    let tiers: &[Tier] = if session.has(Scope::ReviewsManage) {
        &[Tier::Leads, Tier::Everybody]
    } else {
        &[Tier::Everybody]
    };
    let new = NewClaim {
        actor,
        team,
        tiers,
        sites: sites.as_deref(),
        most,
    };
    let claimed = review::claim(session.conn(), new).await?;
    let mut shown = Vec::with_capacity(claimed.reviews.len());
    for id in &claimed.reviews {
        shown.extend(ReviewView::of(management, &mut session, *id).await?);
    }
    shown.sort_by_key(|shown| {
        let review = &shown.review;
        (
            -review.tier.number(),
            -review.severity.number(),
            review.due_at,
            review.id,
        )
    });
    if claimed.has_new {
        session.commit_unrecorded().await?;
    }
    Ok(shown)
}

/// A review that the caller has.
///
/// # Errors
/// The caller may not decide items, or does not have this review.
pub async fn get(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
) -> Result<ReviewView, Refused> {
    let mut session = management.read(caller, Scope::MediaDecide).await?;
    own(management, &mut session, review).await
}

/// The preview of the image of a review that the caller has: a small JPEG that we wrote.
///
/// # Errors
/// As for [`get`], and those of the previews of items.
pub async fn preview(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
) -> Result<Vec<u8>, Refused> {
    let mut session = management.read(caller, Scope::MediaDecide).await?;
    let media = own(management, &mut session, review).await?.review.media;
    previews::of_item(management, session, media).await
}

/// How much waits in the caller's team, as the caller sees it, the most urgent first.
///
/// # Errors
/// The caller may not see it.
pub async fn waiting(management: &Management, caller: &Caller) -> Result<Vec<Waiting>, Refused> {
    let mut session = management.read(caller, Scope::ReviewsRead).await?;
    let team = team(&session)?;
    let person = session.actor().id();
    Ok(review::waiting(session.conn(), team, person).await?)
}

/// The caller, as reviews name somebody, and the team.
fn reviewer(session: &Session) -> Result<(ActorId, TeamId), Refused> {
    let actor = session.actor();
    match actor {
        Actor::Token(_) | Actor::Member(_) => {}
        Actor::CommandLine => {
            return Err(Refused::Invalid(
                "Reviews are somebody's: use a token or sign in.".into(),
            ));
        }
    }
    let id = actor.id().ok_or(Refused::Internal)?;
    Ok((id, team(session)?))
}

fn team(session: &Session) -> Result<TeamId, Refused> {
    session.only_team().ok_or_else(|| {
        Refused::Invalid("Reviews belong to a team: use a token of that team.".into())
    })
}

/// A review that the caller has.
async fn own(
    management: &Management,
    session: &mut Session,
    review: ReviewId,
) -> Result<ReviewView, Refused> {
    let (actor, team) = reviewer(session)?;
    let shown = ReviewView::of(management, session, review).await?;
    shown
        .filter(|shown| shown.review.team == team && shown.review.leased_by == Some(actor))
        .ok_or(Refused::NotFound(Noun::Review))
}

/// Locks a review that the caller has.
async fn lock_own(session: &mut Session, review: ReviewId) -> Result<(ActorId, Locked), Refused> {
    let (actor, _) = reviewer(session)?;
    let reach = session.reach();
    let locked = review::lock(session.conn(), reach, review).await?;
    let locked = locked.ok_or(Refused::NotFound(Noun::Review))?;
    // For a person who has decided, the review has ended, although somebody else may be asked now. Otherwise the answer would tell what
    // kind of review it was.
    if review::has_decided(session.conn(), review, actor).await? {
        return Err(Refused::NotFound(Noun::Review));
    }
    if locked.is_held {
        return Err(Refused::conflict(
            Conflict::ReviewDecided,
            "Somebody has decided here already. Whoever it was can undo it for some seconds.",
        ));
    }
    if locked.leased_by != Some(actor) {
        return Err(Refused::conflict(
            Conflict::ReviewNotYours,
            "You do not have this review any more: it was free again after some minutes without a sign of you. Claim another \
             one.",
        ));
    }
    Ok((actor, locked))
}
