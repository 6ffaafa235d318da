//! Appeals against verdicts.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::MediaId,
    media::{NoRuling, Status},
    review::NoteText,
    scope::Scope,
};
use serde_json::json;
use store::{
    media,
    review::{self, NewNote, appeal},
};

use crate::{Caller, Conflict, Management, Noun, Refused, record};

/// An appeal that waits for a person.
#[derive(Clone, Copy, Debug)]
pub struct Appealed {
    /// The item.
    pub media: MediaId,
    /// Its status, which stays until somebody decides otherwise.
    pub status: Status,
    /// When somebody should have looked.
    pub due_at: DateTime<Utc>,
}

/// Asks that somebody who has not decided about the item looks at it again. The words of the appeal
/// become a note that this person sees.
///
/// # Errors
/// The caller may not do it; there is no such item within reach; it has no final verdict; an appeal
/// is open.
pub async fn appeal(
    management: &Management,
    caller: &Caller,
    media: MediaId,
    words: Option<&NoteText>,
) -> Result<Appealed, Refused> {
    let mut session = management.change(caller, Scope::MediaAppeal).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, standing) = found.ok_or(Refused::NotFound(Noun::Media))?;
    match standing.status {
        Status::Approved | Status::Rejected => {}
        Status::Pending => return Err(NoRuling::StillPending.into()),
        Status::PendingReview => {
            return Err(Refused::conflict(
                Conflict::StillInReview,
                "The item waits for a person already.",
            ));
        }
    }
    let opened = appeal::open(session.conn(), media).await?;
    let opened = opened.ok_or_else(|| {
        Refused::conflict(
            Conflict::AppealOpen,
            "An appeal against this verdict waits for a person already.",
        )
    })?;
    if let (Some(body), Some(by)) = (words, session.actor().id()) {
        let note = NewNote {
            media,
            team,
            review: Some(opened.review),
            by,
            body,
        };
        review::add_note(session.conn(), note).await?;
    }
    let details = json!({ "review_id": opened.review, "status": standing.status });
    record(session, Action::MediaAppeal, team, media, details).await?;
    Ok(Appealed {
        media,
        status: standing.status,
        due_at: opened.due_at,
    })
}
