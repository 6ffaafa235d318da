//! The audit log: who changed what, when, and from where.

mod details;

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use domain::{
    audit::Action,
    id::{ActorId, AuditId, TeamId},
    scope::Scope,
};
use management::{
    Caller, Refused,
    audit_log::{self, Filter, Recorded},
    display_names, people, tokens,
};
use poem::http::StatusCode;
use uuid::Uuid;

use self::details::Details;
use crate::{
    page::{self, Answer, Area, Choice, Frame, PageRequest, pager},
    time,
};

#[derive(Template)]
#[template(path = "audit.html")]
struct List {
    frame: Frame,
    filters: Filters,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: AuditId,
    occurred: DateTime<Utc>,
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
    let frame = Frame::of(&request, "audit").await?;
    let caller = request.caller()?;
    let (mut filters, filter) = read(&request);
    let listed = audit_log::list(&caller, filter, pager::asked(&request)).await?;
    let names = display_names::of(&caller, &named_by(&listed)).await?;
    filters.offer(&frame, &caller).await?;
    let status = match filters.problems {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let page = List {
        next: pager::next(&request, &listed, |entry| entry.id),
        rows: listed
            .into_iter()
            .map(|entry| row(entry, frame.at, &names))
            .collect(),
        frame,
        filters,
    };
    Ok(page::html(status, &page))
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
        occurred: entry.occurred_at,
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

/// Actors of a kind that the filter offers. Others are found by the link at their name.
const OFFERED: i64 = 200;

/// The form above the list.
struct Filters {
    /// The days as they were typed.
    since: String,
    until: String,
    /// The actions, and whether each is chosen.
    actions: Vec<(Action, bool)>,
    actors: Vec<Choice>,
    actor: Option<ActorId>,
    /// The chosen thing.
    target: Option<Uuid>,
    /// What cannot be read.
    problems: Option<&'static str>,
    /// Whether entries are left out.
    is_used: bool,
}

/// Reads the address.
fn read(request: &PageRequest) -> (Filters, Filter) {
    let text = |name: &str| request.query.get(name).to_owned();
    let (since, until) = (text("since"), text("until"));
    let (from, to) = (time::day(&since), time::day(&until));
    let wrong_day = [(&since, from), (&until, to)]
        .into_iter()
        .any(|(typed, day)| !typed.is_empty() && day.is_none());
    let typed = request.query.get("action");
    let action = typed.parse::<Action>().ok();
    let id = |name: &str| request.query.get(name).parse::<Uuid>().ok();
    let filter = Filter {
        since: from.map(start),
        // The whole day is included.
        until: to.and_then(|day| Some(start(day.checked_add_days(Days::new(1))?))),
        action,
        target: id("target"),
        actor: id("actor").map(ActorId::from),
    };
    let problems = if wrong_day {
        Some("A day is written as 2030-12-31.")
    } else if (!typed.is_empty() && action.is_none())
        || (request.query.has("actor") && filter.actor.is_none())
        || (request.query.has("target") && filter.target.is_none())
    {
        Some("A part of this address cannot be read, so it was left out.")
    } else {
        None
    };
    let filters = Filters {
        since,
        until,
        actions: Action::ALL
            .iter()
            .map(|one| (*one, action == Some(*one)))
            .collect(),
        actors: Vec::new(),
        actor: filter.actor,
        target: filter.target,
        problems,
        is_used: filter.since.is_some()
            || filter.until.is_some()
            || filter.action.is_some()
            || filter.target.is_some()
            || filter.actor.is_some(),
    };
    (filters, filter)
}

fn start(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

impl Filters {
    /// Adds the actors that can be chosen.
    async fn offer(&mut self, frame: &Frame, caller: &Caller) -> Result<(), Refused> {
        let page = pager::first(OFFERED);
        let mut actors: Vec<(Uuid, String)> = Vec::new();
        if frame.may(Scope::PeopleRead) {
            let people = people::list(caller, page).await?;
            let people = people.into_iter();
            actors.extend(people.map(|person| (person.id.as_uuid(), person.name)));
        }
        if frame.may(Scope::TokensRead) {
            let tokens = tokens::list(caller, None, page).await?;
            let tokens = tokens.into_iter();
            actors
                .extend(tokens.map(|token| (token.id.as_uuid(), format!("token {}", token.name))));
        }
        let chosen = self.actor.map(ActorId::as_uuid);
        if let Some(chosen) = chosen
            && !actors.iter().any(|(id, _)| *id == chosen)
        {
            actors.push((chosen, chosen.to_string()));
        }
        let chosen = chosen.map_or_else(String::new, |id| id.to_string());
        let actors = actors.into_iter();
        self.actors = actors
            .map(|(id, name)| Choice::new(id, name, &chosen))
            .collect();
        Ok(())
    }
}
