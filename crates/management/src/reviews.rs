//! Reviews: what people are asked to look at on the desk, and what they decide.
//!
//! A review is one person's at a time: [`claim`] leases it. A decision is held until the time to
//! [`undo`] it is over. Then a job tells it, whatever became of the process, the browser or the
//! person. Nobody learns of a review that is somebody else's.

pub mod bulk;
mod decision;
mod notes;
pub mod quality;

use chrono::{DateTime, NaiveDate, Utc};
use domain::{
    actor::Actor,
    audit::Action,
    id::{ActorId, ReviewId, TeamId},
    review::{NoteText, Tier},
    scope::Scope,
};
use serde_json::json;
use store::review::{self, Locked, NewClaim, NewNote, exposure};
pub use store::review::{
    AuthorHistory, Earlier, Note, Review, Waiting, exposure::Exposure, golden::GoldenItem,
};

use crate::{Caller, Conflict, Management, Noun, Refused, Session, boxed, media::previews, record};

pub use self::{
    decision::{Held, NewDecision, decide, undo},
    notes::{add_note, add_note_to, golden_items, golden_of, notes_of, set_golden, unset_golden},
};

/// The reviews that the caller has, and if these are fewer than `most`, the most urgent ones that
/// nobody has. Those become the caller's, for [`LEASE`](domain::review::LEASE). Leads are asked
/// first what waits for leads.
///
/// # Errors
/// The caller may not decide items.
#[boxed]
pub async fn claim(caller: &Caller, most: usize) -> Result<Vec<ReviewView>, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
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
        shown.extend(ReviewView::of(&caller.management, &mut session, *id).await?);
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
#[boxed]
pub async fn get(caller: &Caller, review: ReviewId) -> Result<ReviewView, Refused> {
    let mut session = caller.read(Scope::MediaDecide).await?;
    own(&caller.management, &mut session, review).await
}

/// The preview of the image of a review that the caller has: a small JPEG that we wrote.
///
/// # Errors
/// As for [`get`], and those of the previews of items.
#[boxed]
pub async fn preview(caller: &Caller, review: ReviewId) -> Result<Vec<u8>, Refused> {
    let mut session = caller.read(Scope::MediaDecide).await?;
    let media = own(&caller.management, &mut session, review)
        .await?
        .review
        .media;
    previews::of_item(&caller.management, session, media).await
}

/// How much waits in the caller's team, as the caller sees it, the most urgent first.
///
/// # Errors
/// The caller may not see it.
#[boxed]
pub async fn waiting(caller: &Caller) -> Result<Vec<Waiting>, Refused> {
    let mut session = caller.read(Scope::ReviewsRead).await?;
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

/// At most so many rows are read.
const ROWS: usize = 10_000;

/// How much people have seen.
#[derive(Debug)]
pub struct Exposures {
    /// The first day.
    pub from: NaiveDate,
    /// The last day.
    pub to: NaiveDate,
    /// A row for each person and day, the latest day first.
    pub rows: Vec<Exposure>,
    /// Whether these are all rows of the span.
    pub is_complete: bool,
}

/// What people have decided and uncovered on the days of a span. Who leads reviews sees it of everybody in the team, anybody else
/// only of themselves.
///
/// # Errors
/// The caller may not read about reviews; the span is too long.
#[boxed]
pub async fn exposures(
    caller: &Caller,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
) -> Result<Exposures, Refused> {
    let (from, to) = quality::time_range(from, to, Utc::now())?;
    let (from, to) = (from.date_naive(), to.date_naive());
    let mut session = caller.read(Scope::ReviewsRead).await?;
    let (actor, team) = reviewer(&session)?;
    let only = (!session.has(Scope::ReviewsManage)).then_some(actor);
    let most = i64::try_from(ROWS + 1).unwrap_or(i64::MAX);
    let mut rows = exposure::of_days(session.conn(), team, only, (from, to), most).await?;
    let is_complete = rows.len() <= ROWS;
    rows.truncate(ROWS);
    Ok(Exposures {
        from,
        to,
        rows,
        is_complete,
    })
}

/// A review with what is known around it.
#[derive(Debug)]
pub struct ReviewView {
    /// The review.
    pub review: Review,
    /// What became of earlier items of its author. `None`: the item has no author.
    pub author: Option<AuthorHistory>,
    /// What the team's people have noted about the item, the oldest note first.
    pub notes: Vec<Note>,
    /// Why there is no preview of its image, as far as it is known before one is made.
    pub unseen: Option<Refused>,
}

impl ReviewView {
    /// The review; none if it has ended.
    async fn of(
        management: &Management,
        session: &mut Session,
        review: ReviewId,
    ) -> Result<Option<Self>, Refused> {
        let conn = session.conn();
        let Some(review) = review::view(conn, review).await? else {
            return Ok(None);
        };
        let only = (!review.shows_all_notes()).then_some(review.id);
        Ok(Some(Self {
            author: AuthorHistory::of(conn, &review).await?,
            notes: if review.has_notes {
                review::notes_of(conn, review.media, only).await?
            } else {
                Vec::new()
            },
            unseen: previews::obstacle_of(management, review.content_type, review.image),
            review,
        }))
    }
}

/// Keeps a review for another [`LEASE`](domain::review::LEASE), and says until when. Call it while
/// the person is active.
///
/// # Errors
/// The caller may not decide items, does not have this review any more, or has had it for an hour.
#[boxed]
pub async fn renew(caller: &Caller, review: ReviewId) -> Result<DateTime<Utc>, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    lock_own(&mut session, review).await?;
    let until = review::renew(session.conn(), review).await?;
    let until = until.ok_or_else(|| {
        Refused::conflict(
            Conflict::ReviewNotYours,
            "You have had this review for an hour, so others may take it. Decide it, or skip it.",
        )
    })?;
    session.commit_unrecorded().await?;
    Ok(until)
}

/// Leaves a review to others. The caller does not get it again, and after three people have skipped
/// it, it is the leads'. A lead who skips it gets it again later.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more.
#[boxed]
pub async fn skip(caller: &Caller, review: ReviewId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    let tier = review::skip(session.conn(), review, actor).await?;
    let details = json!({ "review_id": review, "tier": tier });
    let action = Action::ReviewSkip;
    record(session, action, locked.team, locked.media, details).await
}

/// Passes a review up to the leads, with a note for them.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more; the leads have it
/// already.
#[boxed]
pub async fn escalate(
    caller: &Caller,
    review: ReviewId,
    note: Option<&NoteText>,
) -> Result<(), Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    if locked.tier == Tier::Leads {
        return Err(Refused::conflict(
            Conflict::ReviewEscalated,
            "The leads are asked already: decide it, or skip it.",
        ));
    }
    if let Some(body) = note {
        let note = NewNote {
            media: locked.media,
            team: locked.team,
            review: Some(review),
            by: actor,
            body,
        };
        review::add_note(session.conn(), note).await?;
    }
    review::escalate(session.conn(), review).await?;
    let details = json!({ "review_id": review, "has_note": note.is_some() });
    let action = Action::ReviewEscalate;
    record(session, action, locked.team, locked.media, details).await
}

/// Notes that the caller has unveiled the picture of a review: people see how much they have seen.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more.
#[boxed]
pub async fn unveil(caller: &Caller, review: ReviewId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    exposure::count_unveiled(session.conn(), actor, locked.team).await?;
    session.commit_unrecorded().await
}
