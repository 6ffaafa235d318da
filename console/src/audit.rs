//! The audit log: who changed what, when, and from where.

mod details;
mod filters;

use std::collections::HashMap;

use askama::Template;
use domain::id::{ActorId, AuditId, TeamId};
use management::{
    audit_log::{self, Recorded},
    display_names,
};
use poem::http::StatusCode;
use uuid::Uuid;

use self::{details::Details, filters::Filters};
use crate::{
    page::{self, Answer, Area, Frame, PageRequest, pager},
    time::Moment,
};

#[derive(Template)]
#[template(path = "audit.html")]
struct List {
    frame: Frame,
    filters: Filters,
    rows: Vec<Row>,
    next: Option<String>,
}

/// An entry of the log.
struct Row {
    id: AuditId,
    occurred: Moment,
    /// Who did it, in words.
    who: String,
    actor: Option<ActorId>,
    /// How the actor came in.
    face: &'static str,
    action: String,
    /// What it was done to: its name if it is known, and its id.
    target: Option<(Option<String>, Uuid)>,
    team: Option<String>,
    request: Option<String>,
    trace: Option<String>,
    details: Details,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, "audit").await?;
    let caller = request.caller()?;
    let (mut filters, filter) = filters::read(&request);
    let listed =
        audit_log::list(&request.management, &caller, filter, pager::asked(&request)).await?;
    let names = display_names::of(&request.management, &caller, &named_by(&listed)).await?;
    filters.offer(&request, &frame, at, &caller).await?;
    let status = if filters.problems.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let page = List {
        next: pager::next(&request, &listed, |entry| entry.id),
        rows: listed
            .into_iter()
            .map(|entry| row(entry, at, &names))
            .collect(),
        frame,
        filters,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// The ids in these entries that may have a name.
fn named_by(listed: &[Recorded]) -> Vec<Uuid> {
    let ids = listed.iter().flat_map(|entry| {
        [
            entry.actor_id.map(ActorId::as_uuid),
            entry.target,
            entry.team.map(TeamId::as_uuid),
        ]
    });
    let mut ids: Vec<Uuid> = ids.flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn row(entry: Recorded, at: Area, names: &HashMap<Uuid, String>) -> Row {
    let name = |id: Uuid| names.get(&id).cloned();
    let known = entry.actor_id.and_then(|actor| name(actor.as_uuid()));
    // Without a name, it is nobody of this team.
    let (unnamed, face) = match (entry.actor.as_str(), at) {
        ("member", Area::Instance) => ("a person", "console"),
        ("member", _) => ("an operator", "console"),
        ("token", Area::Instance) => ("a token", "management interface"),
        ("token", _) => ("an operator's token", "management interface"),
        ("command_line", _) => ("the command line", "command line"),
        _ => ("somebody", "not known to this version"),
    };
    let team = entry.team.filter(|_| at == Area::Instance);
    Row {
        id: entry.id,
        occurred: entry.occurred_at.into(),
        who: known.unwrap_or_else(|| unnamed.to_owned()),
        actor: entry.actor_id,
        face,
        action: entry.action,
        target: entry.target.map(|target| (name(target), target)),
        team: team.map(|team| {
            let team = team.as_uuid();
            name(team).unwrap_or_else(|| team.to_string())
        }),
        request: entry.request_id,
        trace: entry.trace.map(|trace| trace.to_string()),
        details: details::of(entry.details.get()),
    }
}
