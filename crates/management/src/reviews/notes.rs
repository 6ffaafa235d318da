//! Notes about items, which a team's people write for each other.

use domain::{
    audit::Action,
    id::{MediaId, NoteId, ReviewId},
    review::NoteText,
    scope::Scope,
};
use serde_json::json;
use store::{
    media,
    review::{self, NewNote, Note},
};

use super::{lock_own, reviewer};
use crate::{Caller, Change, Management, Noun, Refused, Session};

/// The last notes about an item, the oldest of them first.
///
/// # Errors
/// The caller may not see items; there is no such item within reach.
pub async fn notes_of(
    management: &Management,
    caller: &Caller,
    media: MediaId,
) -> Result<Vec<Note>, Refused> {
    let mut session = management.read(caller, Scope::MediaRead).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    found.ok_or(Refused::NotFound(Noun::Media))?;
    Ok(review::notes_of(session.conn(), media, None).await?)
}

/// Writes a note about an item.
///
/// # Errors
/// The caller may not decide items; there is no such item within reach.
pub async fn add_note_to(
    management: &Management,
    caller: &Caller,
    media: MediaId,
    body: &NoteText,
) -> Result<NoteId, Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
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
pub async fn add_note(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
    body: &NoteText,
) -> Result<NoteId, Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
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
    session
        .commit(Change {
            action: Action::NoteCreate,
            team: Some(note.team),
            target: note.media.as_uuid(),
            details: json!({ "note_id": id }),
        })
        .await?;
    Ok(id)
}
