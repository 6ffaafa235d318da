//! A person: role and sites, sessions, a link to a new password, and disabling.

use std::sync::Arc;

use askama::Template;
use domain::{
    id::{MemberId, SessionId, TeamId},
    scope::Scope,
};
use management::{
    Refused, display_names,
    people::{
        self, Person, Standing, password_resets,
        sessions::{self, Listed},
    },
};
use poem::http::StatusCode;
use uuid::Uuid;

use super::{
    Named, one_time_link,
    role_form::{self, Chosen, Fields},
};
use crate::{
    error_page::PageError,
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
    user_agent::Browser,
};

#[derive(Template)]
#[template(path = "people/person.html")]
struct Shown {
    frame: Frame,
    at: Area,
    /// The path of this page.
    path: String,
    person: Person,
    team: Option<Named>,
    sites: String,
    joined: Moment,
    disabled: Option<Moment>,
    /// Whether the person who looks may change this one.
    may_change: bool,
    /// The team would have no owner without this person.
    is_only_owner: bool,
    fields: Fields,
    /// None: the person is in another team, too.
    sessions: Option<Vec<Row>>,
    problems: Problems,
}

/// Where the person is signed in.
struct Row {
    id: SessionId,
    address: String,
    browser: Browser,
    signed_in: Moment,
    used: Moment,
}

impl From<Listed> for Row {
    fn from(session: Listed) -> Self {
        Self {
            id: session.id,
            address: session.address,
            browser: session.user_agent.into(),
            signed_in: session.created_at.into(),
            used: session.used_at.into(),
        }
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default(), None).await
}

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, request.at()?, "people").await?;
    frame.require(Scope::PeopleWrite)?;
    let (at, member) = place(&request)?;
    match update(&request, at, member).await {
        Ok(()) => {
            let path = path(at, member);
            Ok(page::see_other(format!("{path}?done=person-changed")))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            let sent = Chosen::sent(&request.form);
            page(
                &request,
                StatusCode::UNPROCESSABLE_ENTITY,
                problems,
                Some(sent),
            )
            .await
        }
    }
}

async fn update(request: &PageRequest, at: Area, member: MemberId) -> Result<(), Refused> {
    let wanted = role_form::read(&request.form)?;
    let caller = request.caller(at.team())?;
    people::update(&request.management, &caller, member, |_| wanted).await?;
    Ok(())
}

pub(crate) async fn disable(request: Arc<PageRequest>) -> Answer {
    let (at, member) = place(&request)?;
    let caller = request.caller(at.team())?;
    match people::disable(&request.management, &caller, member).await {
        Ok(()) => Ok(page::see_other(at.path("people?done=person-disabled"))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems, None).await
        }
    }
}

pub(crate) async fn reset(request: Arc<PageRequest>) -> Answer {
    let (at, member) = place(&request)?;
    let caller = request.caller(at.team())?;
    match password_resets::create(&request.management, &caller, member).await {
        Ok(issued) => {
            let frame = Frame::of(&request, at, "people").await?;
            let text = "Copy this link now and hand it to the person only. It works once, and it is not shown again. It ends \
                all sessions of the person. A second factor is still asked for.";
            let texts = ("A link to a new password", text);
            let secret = (&issued.secret, issued.expires_at);
            let back = (path(at, member), "Back to the person");
            Ok(one_time_link::shown(
                &request, frame, at, texts, secret, back,
            ))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems, None).await
        }
    }
}

pub(crate) async fn end_session(request: Arc<PageRequest>) -> Answer {
    let (at, member) = place(&request)?;
    let caller = request.caller(at.team())?;
    sessions::end(&request.management, &caller, request.id("session")?).await?;
    Ok(page::see_other(format!(
        "{}?done=person-session-ended",
        path(at, member)
    )))
}

fn place(request: &PageRequest) -> Result<(Area, MemberId), PageError> {
    Ok((request.at()?, request.id("person")?))
}

fn path(at: Area, member: MemberId) -> String {
    at.path(&format!("people/{member}"))
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    problems: Problems,
    sent: Option<Chosen>,
) -> Answer {
    let (at, member) = place(request)?;
    let frame = Frame::of(request, at, "people").await?;
    let caller = request.caller(at.team())?;
    let person = people::get(&request.management, &caller, member).await?;
    let sites = person.sites.iter().flatten().take(super::FEW);
    let ids = sites.map(|site| site.as_uuid());
    let team = person.team.filter(|_| at == Area::Instance);
    let ids: Vec<Uuid> = ids.chain(team.map(TeamId::as_uuid)).collect();
    let names = display_names::of(&request.management, &caller, &ids).await?;
    let now = Standing {
        role: person.role,
        sites: person.sites.clone(),
    };
    let chosen = sent.unwrap_or_else(|| Chosen::now(now));
    let sessions = sessions::of_person(&request.management, &caller, member).await?;
    let page = Shown {
        is_only_owner: people::is_only_owner(&request.management, &caller, member).await?,
        fields: Fields::of(request, &frame, at, &caller, &chosen).await?,
        may_change: frame.may(Scope::PeopleWrite) && frame.may_give(person.role),
        sites: super::sites(person.role, person.sites.as_deref(), &names),
        team: team.map(|team| Named::of(team, &names)),
        joined: person.created_at.into(),
        disabled: person.disabled_at.map(Moment::from),
        sessions: sessions.map(|sessions| sessions.into_iter().map(Row::from).collect()),
        path: path(at, member),
        frame,
        at,
        person,
        problems,
    };
    Ok(page::html(status, &page))
}
