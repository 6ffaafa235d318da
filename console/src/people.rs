//! The people of a team, or of the whole instance, the rule for signing in, and links that are shown once, to be handed over.

pub(crate) mod invitations;
pub(crate) mod person;
mod role_form;

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{MemberId, SiteId, TeamId},
    key::LinkSecret,
    role::Role,
};
use management::{
    display_names,
    people::{
        self, Person, sessions,
        sign_in_rules::{self, Rules},
    },
};
use poem::Response;
use uuid::Uuid;

use crate::{
    page::{self, Answer, Area, Frame, PageRequest, pager},
    public_url,
};

/// Names of sites that a list shows of one person.
const FEW: usize = 3;

#[derive(Template)]
#[template(path = "people.html")]
struct List {
    frame: Frame,
    tab: &'static str,
    rows: Vec<Row>,
    /// Whether everybody in the team needs a second factor. None on the whole instance.
    factor_required: Option<bool>,
    next: Option<String>,
}

/// A person as the list shows one.
struct Row {
    id: MemberId,
    name: String,
    email: String,
    team: Option<Named>,
    role: Role,
    sites: String,
    has_factor: bool,
    seen: Option<DateTime<Utc>>,
    is_disabled: bool,
}

/// A team in a list of the whole instance.
struct Named {
    id: TeamId,
    name: String,
}

impl Named {
    fn of(team: TeamId, names: &HashMap<Uuid, String>) -> Self {
        Self {
            id: team,
            name: name(names, team.as_uuid()),
        }
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, "people").await?;
    let caller = request.caller()?;
    let listed = people::list(&caller, pager::asked(&request)).await?;
    let members: Vec<MemberId> = listed.iter().map(|person| person.id).collect();
    let seen = sessions::last_used(&caller, &members).await?;
    let names = display_names::of(&caller, &named_by(&listed)).await?;
    let factor_required = match at.team() {
        Some(team) => Some(sign_in_rules::get(&caller, team).await?.factor_required),
        None => None,
    };
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |person| person.id),
        rows: listed
            .into_iter()
            .map(|person| row(person, at, &names, &seen))
            .collect(),
        frame,
        tab: "people",
        factor_required,
    }))
}

/// The teams and sites whose names the list shows.
fn named_by(listed: &[Person]) -> Vec<Uuid> {
    let teams = listed.iter().filter_map(|person| person.team);
    let sites = listed.iter().filter_map(|person| person.sites.as_ref());
    let sites = sites.flat_map(|sites| sites.iter().take(FEW));
    let teams = teams.map(TeamId::as_uuid);
    teams.chain(sites.map(|site| site.as_uuid())).collect()
}

fn row(
    person: Person,
    at: Area,
    names: &HashMap<Uuid, String>,
    seen: &HashMap<MemberId, DateTime<Utc>>,
) -> Row {
    let team = person.team.filter(|_| at == Area::Instance);
    Row {
        id: person.id,
        team: team.map(|team| Named::of(team, names)),
        sites: sites(person.role, person.sites.as_deref(), names),
        name: person.name,
        email: person.email,
        role: person.role,
        has_factor: person.has_factor,
        seen: seen.get(&person.id).copied(),
        is_disabled: person.disabled_at.is_some(),
    }
}

/// The sites on which a person decides, in words. Empty for roles to which this does not apply.
fn sites(role: Role, sites: Option<&[SiteId]>, names: &HashMap<Uuid, String>) -> String {
    let Some(sites) = sites else {
        return if role.has_sites() {
            "all sites".to_owned()
        } else {
            String::new()
        };
    };
    let few = sites.iter().take(FEW);
    let few: Vec<String> = few.map(|site| name(names, site.as_uuid())).collect();
    match sites.len().checked_sub(FEW) {
        Some(more @ 1..) => format!("{} and {more} more", few.join(", ")),
        Some(0) | None => few.join(", "),
    }
}

fn name(names: &HashMap<Uuid, String>, id: Uuid) -> String {
    names.get(&id).cloned().unwrap_or_else(|| id.to_string())
}

pub(crate) async fn change_rule(request: PageRequest) -> Answer {
    let (team, caller) = (request.team()?, request.caller()?);
    let wanted = Rules {
        factor_required: request.form.has("factor_required"),
    };
    sign_in_rules::update(&caller, team, |_| wanted).await?;
    request.lead_to("people?done=sign-in-rule")
}

#[derive(Template)]
#[template(path = "people/one_time_link.html")]
struct Link<'a> {
    frame: Frame,
    title: &'a str,
    text: &'a str,
    url: String,
    until: DateTime<Utc>,
    /// Where to go on.
    back: (String, &'a str),
}

/// The page with the link. It is the answer itself and has no address, so it cannot be opened again.
fn show_once(
    request: &PageRequest,
    frame: Frame,
    (title, text): (&str, &str),
    (secret, until): (&LinkSecret, DateTime<Utc>),
    back: (String, &str),
) -> Response {
    page::shown(&Link {
        frame,
        title,
        text,
        url: public_url::link(request.origin(), secret),
        until,
        back,
    })
}
