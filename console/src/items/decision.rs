//! What a person decides about an item.

use domain::{
    id::MediaId,
    media::{Ruling, Seen},
    reason::Reason,
};
use management::{
    Conflict, Refused,
    media::{self, NewDecision},
};
use poem::http::StatusCode;

use super::item::{self, Form};
use crate::page::{self, Answer, PageRequest, Problems};

pub(crate) async fn create(request: PageRequest) -> Answer {
    let refused = match decide(&request).await {
        Ok(Ruling::Approve) => return Ok(done(&request, "approved")),
        Ok(Ruling::Reject) => return Ok(done(&request, "rejected")),
        Err(refused) => refused,
    };
    let is_outdated = matches!(
        refused,
        Refused::Conflict(
            Conflict::MediaChanged | Conflict::VerdictChanged | Conflict::AlreadyDecided,
            _
        )
    );
    let form = Form {
        status: match refused {
            Refused::Conflict(..) => StatusCode::CONFLICT,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        },
        problems: if is_outdated {
            Problems::default()
        } else {
            Problems::of(refused)?
        },
        reason: request.form.get("reason"),
        is_outdated,
        ..Form::default()
    };
    item::page(&request, form).await
}

async fn decide(request: &PageRequest) -> Result<Ruling, Refused> {
    let team = request
        .team()
        .map_err(|_| Refused::NotFound(management::Noun::Media))?;
    let id: MediaId = request
        .id("item")
        .map_err(|_| Refused::NotFound(management::Noun::Media))?;
    let caller = request.caller()?;
    let ruling = request.form.get("decision").parse::<Ruling>();
    let ruling = ruling.map_err(|_| Refused::field("decision", "must be `approve` or `reject`"))?;
    let reason = Reason::try_from(request.form.get("reason").to_owned());
    let new = NewDecision {
        ruling,
        reason: reason.map_err(|wrong| Refused::field("reason", wrong.to_string()))?,
        seen: Seen {
            status: request.form.get("seen_status").parse().ok(),
            verdict: request.form.get("seen_verdict").parse().ok(),
        },
    };
    media::decide(&request.management, &caller, id, new).await?;
    Ok(ruling)
}

/// Leads to the page of the item.
pub(super) fn done(request: &PageRequest, what: &str) -> poem::Response {
    let path = request.path();
    let item = path.rsplit_once('/').map_or(path, |(item, _)| item);
    page::see_other(format!("{item}?done={what}"))
}
