//! Inviting people: open invitations, a new one, and withdrawing one. Gatehouse sends no mail: the link is shown once, to be
//! handed over.

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    email::Email,
    id::{LinkId, TeamId},
    role::Role,
    scope::Scope,
};
use management::{
    Refused, display_names,
    people::{
        self, Standing,
        invitations::{self, Invitation, IssuedInvitation, Wanted},
    },
    teams::{self, Team},
};
use uuid::Uuid;

use super::{
    Named,
    role_form::{self, Chosen, Fields},
    show_once, sites,
};
use crate::{
    page::{self, Answer, Area, Frame, PageError, PageRequest, Problems, pager},
    public_url,
};

#[derive(Template)]
#[template(path = "people/invitations.html")]
struct List {
    frame: Frame,
    tab: &'static str,
    rows: Vec<Row>,
    next: Option<String>,
}

/// An open invitation.
struct Row {
    id: LinkId,
    email: String,
    team: Option<Named>,
    role: Role,
    sites: String,
    made: DateTime<Utc>,
    until: DateTime<Utc>,
    /// Whether the person who looks may withdraw it.
    may_cancel: bool,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, "people").await?;
    let caller = request.caller()?;
    let listed = invitations::list(&caller, pager::asked(&request)).await?;
    let teams = listed.iter().filter_map(|invitation| invitation.team);
    let sites = listed
        .iter()
        .filter_map(|invitation| invitation.sites.as_ref());
    let sites = sites.flat_map(|sites| sites.iter().take(super::FEW));
    let ids = sites.map(|site| site.as_uuid());
    let ids: Vec<Uuid> = teams.map(TeamId::as_uuid).chain(ids).collect();
    let names = display_names::of(&caller, &ids).await?;
    let first = first_owners(&request, at, &listed).await?;
    let next = pager::next(&request, &listed, |invitation| invitation.id);
    let rows = listed.into_iter().map(|invitation| {
        let given = frame.may_give(invitation.role);
        let may = given || invitation.team.is_some_and(|team| first.contains(&team));
        row(invitation, at, &names, may && frame.may(Scope::PeopleWrite))
    });
    Ok(page::shown(&List {
        rows: rows.collect(),
        frame,
        tab: "invitations",
        next,
    }))
}

/// The teams that have no owner yet: an operator may withdraw the invitation of their first one.
async fn first_owners(
    request: &PageRequest,
    at: Area,
    listed: &[Invitation],
) -> Result<Vec<TeamId>, Refused> {
    if at != Area::Instance {
        return Ok(Vec::new());
    }
    let owners = listed.iter().filter(|one| one.role == Role::Owner);
    let mut teams: Vec<TeamId> = owners.filter_map(|one| one.team).collect();
    teams.sort_unstable();
    teams.dedup();
    let caller = request.caller()?;
    people::without_owner(&caller, &teams).await
}

fn row(invitation: Invitation, at: Area, names: &HashMap<Uuid, String>, may_cancel: bool) -> Row {
    let team = invitation.team.filter(|_| at == Area::Instance);
    Row {
        id: invitation.id,
        team: team.map(|team| Named::of(team, names)),
        sites: sites(invitation.role, invitation.sites.as_deref(), names),
        email: invitation.email,
        role: invitation.role,
        made: invitation.created_at,
        until: invitation.expires_at,
        may_cancel,
    }
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    invitations::cancel(&caller, request.id("invitation")?).await?;
    request.lead_to("people/invitations?done=invitation-cancelled")
}

#[derive(Template)]
#[template(path = "people/invite.html")]
struct Invite {
    frame: Frame,
    /// The team whose first owner an operator invites.
    team: Option<Team>,
    fields: Fields,
    problems: Problems,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "people").await?;
    match invite(&request, frame.at).await {
        Ok(issued) => {
            let email = &issued.invitation.email;
            let title = format!("{email} is invited");
            let is_own = email.eq_ignore_ascii_case(&frame.email);
            let text = "Copy this link now and hand it to the person only: the first person who opens it can use it. It works \
                once, and it is not shown again.";
            let until = issued.invitation.expires_at;
            let back = if is_own {
                let own = public_url::link(request.origin(), &issued.secret);
                (own, "Open it: it is yours")
            } else {
                (frame.path("people"), "Back to the people")
            };
            let texts = (title.as_str(), text);
            let secret = (&issued.secret, until);
            Ok(show_once(&request, frame, texts, secret, back))
        }
        Err(refused) => form(&request, Problems::of(refused)?).await,
    }
}

async fn invite(request: &PageRequest, at: Area) -> Result<IssuedInvitation, Refused> {
    let caller = request.caller()?;
    let email: Email = request.form.read("email")?;
    let (team, standing) = match at {
        Area::Team(team) => (Some(team), role_form::read(&request.form)?),
        Area::Instance | Area::Own => of_operator(request)?,
    };
    let wanted = Wanted {
        team,
        email,
        standing,
    };
    invitations::create(&caller, &wanted).await
}

/// An operator invites other operators, and the first owner of a team.
fn of_operator(request: &PageRequest) -> Result<(Option<TeamId>, Standing), Refused> {
    let team: Option<TeamId> = match request.form.get("team") {
        "" => None,
        named => {
            let team = named.parse();
            Some(team.map_err(|_| Refused::field("team_id", "is no team"))?)
        }
    };
    let role = match team {
        Some(_) => Role::Owner,
        None => Role::Operator,
    };
    Ok((team, Standing { role, sites: None }))
}

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "people").await?;
    let page = Invite {
        fields: Fields::of(&request.caller()?, &frame, &Chosen::sent(&request.form)).await?,
        team: named_team(request, frame.at).await?,
        frame,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

async fn named_team(request: &PageRequest, at: Area) -> Result<Option<Team>, PageError> {
    let sent = [request.form.get("team"), request.query.get("team")];
    let named = sent.into_iter().find_map(|id| id.parse::<TeamId>().ok());
    match (at, named) {
        (Area::Instance, Some(team)) => {
            let caller = request.caller()?;
            Ok(Some(teams::get(&caller, team).await?))
        }
        (Area::Instance | Area::Team(_) | Area::Own, _) => Ok(None),
    }
}
