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
    error_page::PageError,
    origin,
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "people").await?;
    let frame = frame.require(Scope::PeopleWrite)?;
    match invite(&request, at).await {
        Ok(issued) => {
            let email = &issued.invitation.email;
            let title = format!("{email} is invited");
            let is_own = email.eq_ignore_ascii_case(&frame.email);
            let text = "Copy this link now and hand it to the person only: the first person who opens it can use it. It works \
                once, and it is not shown again.";
            let until = issued.invitation.expires_at;
            let back = if is_own {
                let own = origin::link(request.origin(), &issued.secret);
                (own, "Open it: it is yours")
            } else {
                (at.path("people"), "Back to the people")
            };
            let texts = (title.as_str(), text);
            Ok(one_time_link::shown(
                &request,
                frame,
                at,
                texts,
                (&issued.secret, until),
                back,
            ))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn invite(request: &PageRequest, at: Area) -> Result<IssuedInvitation, Refused> {
    let caller = request.caller(at.team())?;
    let email = request.form.get("email").trim().parse::<Email>();
    let email = email.map_err(|wrong| Refused::field("email", wrong.to_string()))?;
    let (team, standing) = match at {
        Area::Team(team) => (Some(team), role_form::read(&request.form)?),
        Area::Instance | Area::Own => of_operator(request)?,
    };
    let wanted = Wanted {
        team,
        email,
        standing,
    };
    invitations::create(&request.management, &caller, &wanted).await
}

/// An operator invites other operators, and the first owner of a team.
fn of_operator(request: &PageRequest) -> Result<(Option<TeamId>, Standing), Refused> {
    let named = request.form.get("team");
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

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(request, at, "people").await?;
    let frame = frame.require(Scope::PeopleWrite)?;
    let caller = request.caller(at.team())?;
    let page = Invite {
        fields: Fields::of(request, &frame, at, &caller, &Chosen::sent(&request.form)).await?,
        team: named_team(request, at).await?,
        frame,
        at,
        email: request.form.get("email"),
        problems,
    };
    Ok(page::html(status, &page))
}

async fn named_team(request: &PageRequest, at: Area) -> Result<Option<Team>, PageError> {
    let sent = [request.form.get("team"), request.query.get("team")];
    let named = sent.into_iter().find_map(|id| id.parse::<TeamId>().ok());
    match (at, named) {
        (Area::Instance, Some(team)) => {
            let caller = request.caller(None)?;
            Ok(Some(teams::get(&request.management, &caller, team).await?))
        }
        (Area::Instance | Area::Team(_) | Area::Own, _) => Ok(None),
    }
}
