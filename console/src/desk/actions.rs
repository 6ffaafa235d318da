//! What a person does with a review.

use domain::{
    id::{ReviewId, ReviewPolicyId},
    media::Ruling,
    reason::Reason,
    review::NoteText,
};
use management::{
    Conflict, Refused,
    reviews::{self, Held, NewDecision},
};
use poem::{Response, http::StatusCode};

use super::{is_lost, lost_or, next, review};
use crate::page::{self, Answer, Area, PageError, PageRequest, Problems};

/// Decides, and leads to the next review.
pub(crate) async fn decide(request: PageRequest) -> Answer {
    match decided(&request).await {
        Ok(held) => {
            let left = held.until - chrono::Utc::now();
            let query = format!(
                "decided={}&as={}&seconds={}",
                held.review,
                held.ruling,
                left.num_seconds().clamp(0, 60)
            );
            next(&request, &query).await
        }
        Err(refused) => again_or_on(&request, refused).await,
    }
}

async fn decided(request: &PageRequest) -> Result<Held, Refused> {
    let (caller, id) = named(request).map_err(|_| Refused::NotFound(management::Noun::Review))?;
    let ruling = request.form.get("decision").parse::<Ruling>();
    let ruling = ruling.map_err(|_| Refused::field("decision", "must be `approve` or `reject`"))?;
    let policy = match request.form.get("policy") {
        "" => None,
        policy => {
            let policy: Result<uuid::Uuid, _> = policy.parse();
            let unknown = |_| Refused::field("policy_id", "is no policy of your team");
            Some(ReviewPolicyId::from(policy.map_err(unknown)?))
        }
    };
    let reason = request.form.get("reason").trim();
    // One page has buttons for all decisions, and one field. A reason that was typed is for rejections.
    let reason = match (ruling, reason) {
        (_, "") => None,
        (Ruling::Approve | Ruling::Reject, text) => {
            let text = Reason::try_from(text.to_owned());
            Some(text.map_err(|wrong| Refused::field("reason", wrong.to_string()))?)
        }
    };
    let new = NewDecision {
        ruling,
        policy,
        reason,
    };
    reviews::decide(&request.management, &caller, id, new).await
}

/// Undoes what the person has just decided, and shows it again.
pub(crate) async fn undo(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    match reviews::undo(&request.management, &caller, id).await {
        Ok(shown) => request.lead_to(format!("desk/{}", shown.review.id)),
        Err(Refused::Conflict(Conflict::ReviewTold, _)) => next(&request, "late=yes").await,
        Err(refused) => lost_or(&request, refused).await,
    }
}

pub(crate) async fn skip(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    match reviews::skip(&request.management, &caller, id).await {
        Ok(()) => next(&request, "").await,
        Err(refused) => lost_or(&request, refused).await,
    }
}

pub(crate) async fn escalate(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    let note = match request.form.get("note").trim() {
        "" => Ok(None),
        text => NoteText::try_from(text.to_owned())
            .map(Some)
            .map_err(|wrong| Refused::field("note", wrong.to_string())),
    };
    let escalated = match note {
        Ok(note) => reviews::escalate(&request.management, &caller, id, note.as_ref()).await,
        Err(refused) => Err(refused),
    };
    match escalated {
        Ok(()) => next(&request, "").await,
        Err(refused) => again_or_on(&request, refused).await,
    }
}

pub(crate) async fn note(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    let note = NoteText::try_from(request.form.get("note").trim().to_owned());
    let note = note.map_err(|wrong| Refused::field("note", wrong.to_string()));
    let written = match note {
        Ok(note) => reviews::add_note(&request.management, &caller, id, &note).await,
        Err(refused) => Err(refused),
    };
    match written {
        Ok(_) => request.lead_to(format!("desk/{id}")),
        Err(refused) => again_or_on(&request, refused).await,
    }
}

/// Keeps the review. A script asks for it while the person is active.
pub(crate) async fn renew(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    reviews::renew(&request.management, &caller, id).await?;
    Ok(done())
}

/// Counts an unveiled picture. A script tells of it.
pub(crate) async fn unveil(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    reviews::unveil(&request.management, &caller, id).await?;
    Ok(done())
}

/// The answer to a script, which shows nothing.
pub(super) fn done() -> Response {
    Response::builder().status(StatusCode::NO_CONTENT).finish()
}

fn named(request: &PageRequest) -> Result<(management::Caller, ReviewId), PageError> {
    Ok((
        request.caller()?,
        request.id("review")?,
    ))
}

/// Shows the review again with what is wrong, or leads on if it is lost.
async fn again_or_on(request: &PageRequest, refused: Refused) -> Answer {
    if is_lost(&refused) {
        return next(request, "lost=yes").await;
    }
    review::form(request, Problems::of(refused)?).await
}
