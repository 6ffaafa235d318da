//! Notes about items, which a team's people write for each other.

use domain::{
    audit::Action,
    id::{ActorId, MediaId, NoteId, ReviewId, TeamId},
    media::{Ruling, Standing, Status},
    review::NoteText,
    scope::Scope,
};
use serde_json::json;
use store::{
    media,
    page::Page,
    review::{
        self, NewNote, Note,
        golden::{self, GoldenItem},
    },
};

use super::{lock_own, reviewer, team};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, record};

/// The last notes about an item, the oldest of them first.
///
/// # Errors
/// The caller may not see items; there is no such item within reach.
#[boxed]
pub async fn notes_of(caller: &Caller, media: MediaId) -> Result<Vec<Note>, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    found.ok_or(Refused::NotFound(Noun::Media))?;
    Ok(review::notes_of(session.conn(), media, None).await?)
}

/// Writes a note about an item.
///
/// # Errors
/// The caller may not decide items; there is no such item within reach.
#[boxed]
pub async fn add_note_to(
    caller: &Caller,
    media: MediaId,
    body: &NoteText,
) -> Result<NoteId, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (by, _) = reviewer(&session)?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, _) = found.ok_or(Refused::NotFound(Noun::Media))?;
    let note = NewNote {
        media,
        team,
        review: None,
        by,
        body,
    };
    write(session, note).await
}

/// Writes a note about the item of a review that the caller has.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more.
#[boxed]
pub async fn add_note(
    caller: &Caller,
    review: ReviewId,
    body: &NoteText,
) -> Result<NoteId, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let (by, locked) = lock_own(&mut session, review).await?;
    let note = NewNote {
        media: locked.media,
        team: locked.team,
        review: Some(review),
        by,
        body,
    };
    write(session, note).await
}

async fn write(mut session: Session, note: NewNote<'_>) -> Result<NoteId, Refused> {
    let id = review::add_note(session.conn(), note).await?;
    let details = json!({ "note_id": id });
    record(session, Action::NoteCreate, note.team, note.media, details).await?;
    Ok(id)
}

/// The team's items whose answer is known, the first accepted one first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn golden_items(caller: &Caller, page: Page) -> Result<Vec<GoldenItem>, Refused> {
    let mut session = caller.read(Scope::ReviewsManage).await?;
    let team = team(&session)?;
    Ok(golden::list(session.conn(), team, page).await?)
}

/// What the right decision about an item is, if that is known.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn golden_of(caller: &Caller, media: MediaId) -> Result<Option<GoldenItem>, Refused> {
    let mut session = caller.read(Scope::ReviewsManage).await?;
    let reach = session.reach();
    Ok(golden::of(session.conn(), reach, media).await?)
}

/// Says what the right decision about an item is.
///
/// # Errors
/// The caller may not do it; there is no such item within reach, it is pending or waits for a person, or never waited for one.
#[boxed]
pub async fn set_golden(caller: &Caller, media: MediaId, expected: Ruling) -> Result<(), Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let (actor, team, standing) = item(&mut session, media).await?;
    match standing.status {
        Status::Approved | Status::Rejected => {}
        Status::Pending | Status::PendingReview => {
            return Err(Refused::conflict(
                Conflict::StillInReview,
                "The item has no final verdict yet: decide it first.",
            ));
        }
    }
    if !golden::was_in_review(session.conn(), media).await? {
        return Err(Refused::conflict(
            Conflict::NeverInReview,
            "The machine decided about this item, so moderators would notice that it is no usual one: choose an item that was in \
             review.",
        ));
    }
    golden::set(session.conn(), media, expected, actor).await?;
    let details = json!({ "expected": expected });
    record(session, Action::GoldenSet, team, media, details).await
}

/// Takes back what the right decision about an item is. Nobody gets the item for that any more.
///
/// # Errors
/// The caller may not do it; there is no such item within reach, or its answer is not known.
#[boxed]
pub async fn unset_golden(caller: &Caller, media: MediaId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let (_, team, _) = item(&mut session, media).await?;
    if !golden::unset(session.conn(), media).await? {
        return Err(Refused::NotFound(Noun::Golden));
    }
    record(session, Action::GoldenUnset, team, media, json!({})).await
}

/// The caller, and an item within reach.
async fn item(
    session: &mut Session,
    media: MediaId,
) -> Result<(ActorId, TeamId, Standing), Refused> {
    let (actor, _) = reviewer(session)?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, standing) = found.ok_or(Refused::NotFound(Noun::Media))?;
    Ok((actor, team, standing))
}
