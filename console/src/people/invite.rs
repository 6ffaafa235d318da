//! Inviting a person. Gatehouse sends no mail: the link is shown once, to be handed over.

use std::sync::Arc;

use askama::Template;
use domain::{email::Email, id::TeamId, role::Role, scope::Scope};
use management::{
    Refused,
    people::{
        Standing,
        invitations::{self, IssuedInvitation, Wanted},
    },
    teams::{self, Team},
};
use poem::http::StatusCode;

use super::{
    one_time_link,
    role_form::{self, Chosen, Fields},
};
use crate::{
    origin,
    page::{self, Area, Frame},
    problems::Problems,
    router::Answer,
    error_page::PageError,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "people/invite.html")]
struct Invite<'a> {
    frame: Frame,
    at: Area,
    email: &'a str,
    /// The team whose first owner an operator invites.
    team: Option<Team>,
    fields: Fields,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let at = visit.at()?;
    let frame = Frame::of(&visit, at, "people").await?;
    let frame = frame.require(Scope::PeopleWrite)?;
    match invite(&visit, at).await {
        Ok(issued) => {
            let email = &issued.invitation.email;
            let title = format!("{email} is invited");
            let is_own = email.eq_ignore_ascii_case(&frame.email);
            let text = "Copy this link now and hand it to the person only: the first person who opens it can use it. It works \
                once, and it is not shown again.";
            let until = issued.invitation.expires_at;
            let back = if is_own {
                let own = origin::link(visit.origin(), &issued.secret);
                (own, "Open it: it is yours")
            } else {
                (at.path("people"), "Back to the people")
            };
            let texts = (title.as_str(), text);
            Ok(one_time_link::shown(
                &visit,
                frame,
                at,
                texts,
                (&issued.secret, until),
                back,
            ))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn invite(visit: &PageRequest, at: Area) -> Result<IssuedInvitation, Refused> {
    let caller = visit.caller(at.team())?;
    let email = visit.form.get("email").trim().parse::<Email>();
    let email = email.map_err(|wrong| Refused::field("email", wrong.to_string()))?;
    let (team, standing) = match at {
        Area::Team(team) => (Some(team), role_form::read(&visit.form)?),
        Area::Instance | Area::Own => of_operator(visit)?,
    };
    let wanted = Wanted {
        team,
        email,
        standing,
    };
    invitations::create(&visit.management, &caller, &wanted).await
}

/// An operator invites other operators, and the first owner of a team.
fn of_operator(visit: &PageRequest) -> Result<(Option<TeamId>, Standing), Refused> {
    let named = visit.form.get("team");
    let team = match named {
        "" => None,
        named => {
            let team = named.parse::<TeamId>();
            Some(team.map_err(|_| Refused::field("team_id", "is no team"))?)
        }
    };
    let role = match team {
        Some(_) => Role::Owner,
        None => Role::Operator,
    };
    Ok((team, Standing { role, sites: None }))
}

async fn form(visit: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let at = visit.at()?;
    let frame = Frame::of(visit, at, "people").await?;
    let frame = frame.require(Scope::PeopleWrite)?;
    let caller = visit.caller(at.team())?;
    let page = Invite {
        fields: Fields::of(visit, &frame, at, &caller, &Chosen::sent(&visit.form)).await?,
        team: named_team(visit, at).await?,
        frame,
        at,
        email: visit.form.get("email"),
        problems,
    };
    Ok(page::html(status, &page))
}

async fn named_team(visit: &PageRequest, at: Area) -> Result<Option<Team>, PageError> {
    let sent = [visit.form.get("team"), visit.query.get("team")];
    let named = sent.into_iter().find_map(|id| id.parse::<TeamId>().ok());
    match (at, named) {
        (Area::Instance, Some(team)) => {
            let caller = visit.caller(None)?;
            Ok(Some(teams::get(&visit.management, &caller, team).await?))
        }
        (Area::Instance | Area::Team(_) | Area::Own, _) => Ok(None),
    }
}
