//! What a person does with a review.

use std::sync::Arc;

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
use crate::{
    page::{self, Area},
    problems::Problems,
    router::Answer,
    error_page::PageError,
    request::PageRequest,
};

/// Decides, and leads to the next review.
pub(crate) async fn decide(visit: Arc<PageRequest>) -> Answer {
    match decided(&visit).await {
        Ok(held) => {
            let left = held.until - chrono::Utc::now();
            let query = format!(
                "decided={}&as={}&seconds={}",
                held.review,
                held.ruling,
                left.num_seconds().clamp(0, 60)
            );
            next(&visit, &query).await
        }
        Err(refused) => again_or_on(&visit, refused).await,
    }
}

async fn decided(visit: &PageRequest) -> Result<Held, Refused> {
    let (caller, id) = named(visit).map_err(|_| Refused::NotFound(management::Noun::Review))?;
    let ruling = visit.form.get("decision").parse::<Ruling>();
    let ruling = ruling.map_err(|_| Refused::field("decision", "must be `approve` or `reject`"))?;
    let policy = match visit.form.get("policy") {
        "" => None,
        policy => {
            let policy: Result<uuid::Uuid, _> = policy.parse();
            let unknown = |_| Refused::field("policy_id", "is no policy of your team");
            Some(ReviewPolicyId::from(policy.map_err(unknown)?))
        }
    };
    let reason = visit.form.get("reason").trim();
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
    reviews::decide(&visit.management, &caller, id, new).await
}

/// Undoes what the person has just decided, and shows it again.
pub(crate) async fn undo(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    match reviews::undo(&visit.management, &caller, id).await {
        Ok(shown) => {
            let place = format!("desk/{}", shown.review.id);
            Ok(page::see_other(Area::Team(visit.team()?).path(&place)))
        }
        Err(Refused::Conflict(Conflict::ReviewTold, _)) => next(&visit, "late=yes").await,
        Err(refused) => lost_or(&visit, refused).await,
    }
}

pub(crate) async fn skip(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    match reviews::skip(&visit.management, &caller, id).await {
        Ok(()) => next(&visit, "").await,
        Err(refused) => lost_or(&visit, refused).await,
    }
}

pub(crate) async fn escalate(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    let note = match visit.form.get("note").trim() {
        "" => Ok(None),
        text => NoteText::try_from(text.to_owned())
            .map(Some)
            .map_err(|wrong| Refused::field("note", wrong.to_string())),
    };
    let escalated = match note {
        Ok(note) => reviews::escalate(&visit.management, &caller, id, note.as_ref()).await,
        Err(refused) => Err(refused),
    };
    match escalated {
        Ok(()) => next(&visit, "").await,
        Err(refused) => again_or_on(&visit, refused).await,
    }
}

pub(crate) async fn note(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    let note = NoteText::try_from(visit.form.get("note").trim().to_owned());
    let note = note.map_err(|wrong| Refused::field("note", wrong.to_string()));
    let written = match note {
        Ok(note) => reviews::add_note(&visit.management, &caller, id, &note).await,
        Err(refused) => Err(refused),
    };
    match written {
        Ok(_) => {
            let place = Area::Team(visit.team()?).path(&format!("desk/{id}"));
            Ok(page::see_other(place))
        }
        Err(refused) => again_or_on(&visit, refused).await,
    }
}

/// Keeps the review. A script asks for it while the person is active.
pub(crate) async fn renew(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    reviews::renew(&visit.management, &caller, id).await?;
    Ok(done())
}

/// Counts an unveiled picture. A script tells of it.
pub(crate) async fn unveil(visit: Arc<PageRequest>) -> Answer {
    let (caller, id) = named(&visit)?;
    reviews::unveil(&visit.management, &caller, id).await?;
    Ok(done())
}

/// The answer to a script, which shows nothing.
pub(super) fn done() -> Response {
    Response::builder().status(StatusCode::NO_CONTENT).finish()
}

fn named(visit: &PageRequest) -> Result<(management::Caller, ReviewId), PageError> {
    Ok((visit.caller(Some(visit.team()?))?, visit.id("review")?))
}

/// Shows the review again with what is wrong, or leads on if it is lost.
async fn again_or_on(visit: &PageRequest, refused: Refused) -> Answer {
    if is_lost(&refused) {
        return next(visit, "lost=yes").await;
    }
    let problems = Problems::of(refused)?;
    review::form(visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}
