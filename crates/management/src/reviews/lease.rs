//! What somebody who has a review does without deciding.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::ReviewId,
    review::{NoteText, Tier},
    scope::Scope,
};
use serde_json::json;
use store::review::{self, NewNote, exposure};

use super::lock_own;
use crate::{Caller, Change, Conflict, Management, Refused};

/// Keeps a review for another [`LEASE`](domain::review::LEASE), and says until when. Call it while
/// the person is active.
///
/// # Errors
/// The caller may not decide items, does not have this review any more, or has had it for an hour.
pub async fn renew(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
) -> Result<DateTime<Utc>, Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
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
pub async fn skip(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
) -> Result<(), Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    let tier = review::skip(session.conn(), review, actor).await?;
    session
        .commit(Change {
            action: Action::ReviewSkip,
            team: Some(locked.team),
            target: locked.media.as_uuid(),
            details: json!({ "review_id": review, "tier": tier }),
        })
        .await
}

/// Passes a review up to the leads, with a note for them.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more; the leads have it
/// already.
pub async fn escalate(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
    note: Option<&NoteText>,
) -> Result<(), Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
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
    session
        .commit(Change {
            action: Action::ReviewEscalate,
            team: Some(locked.team),
            target: locked.media.as_uuid(),
            details: json!({ "review_id": review, "has_note": note.is_some() }),
        })
        .await
}

/// Notes that the caller has unveiled the picture of a review: people see how much they have seen.
///
/// # Errors
/// The caller may not decide items, or does not have this review any more.
pub async fn unveil(
    management: &Management,
    caller: &Caller,
    review: ReviewId,
) -> Result<(), Refused> {
    let mut session = management.change(caller, Scope::MediaDecide).await?;
    let (actor, locked) = lock_own(&mut session, review).await?;
    exposure::count_unveiled(session.conn(), actor, locked.team).await?;
    session.commit_unrecorded().await
}
