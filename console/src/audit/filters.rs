//! Which entries are wanted: by actor, action and time.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use domain::{audit::Action, id::ActorId, scope::Scope};
use management::{Caller, Refused, audit_log::Filter, people, sites::Page, tokens};
use uuid::Uuid;

use crate::{
    page::{Area, Frame, PageRequest, pager},
    time,
};

/// Actors of a kind that the filter offers. Others are found by the link at their name.
const OFFERED: i64 = 200;

/// The form above the list.
pub(super) struct Filters {
    /// The days as they were typed.
    pub(super) since: String,
    pub(super) until: String,
    /// The actions, and whether each is chosen.
    pub(super) actions: Vec<(Action, bool)>,
    /// The actors that can be chosen.
    pub(super) actors: Vec<Choice>,
    /// The chosen actor.
    actor: Option<ActorId>,
    /// The chosen thing.
    pub(super) target: Option<Uuid>,
    /// What cannot be read.
    pub(super) problems: Option<&'static str>,
    /// Whether entries are left out.
    pub(super) is_used: bool,
}

/// An actor that can be chosen.
pub(super) struct Choice {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) is_chosen: bool,
}

/// Reads the address.
pub(super) fn read(request: &PageRequest) -> (Filters, Filter) {
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
    pub(super) async fn offer(
        &mut self,
        request: &PageRequest,
        frame: &Frame,
        at: Area,
        caller: &Caller,
    ) -> Result<(), Refused> {
        let page = pager::first(OFFERED);
        let mut actors: Vec<(Uuid, String)> = Vec::new();
        if at != Area::Own && frame.may(Scope::PeopleRead) {
            let people = people::list(&request.management, caller, page).await?;
            let people = people.into_iter();
            actors.extend(people.map(|person| (person.id.as_uuid(), person.name)));
        }
        if frame.may(Scope::TokensRead) {
            let tokens = tokens::list(&request.management, caller, None, page).await?;
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
        self.actors = actors
            .into_iter()
            .map(|(id, name)| Choice {
                id,
                name,
                is_chosen: chosen == Some(id),
            })
            .collect();
        Ok(())
    }
}
