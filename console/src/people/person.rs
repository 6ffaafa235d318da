//! A person: role and sites, sessions, a link to a new password, and disabling.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{MemberId, TeamId},
    scope::Scope,
};
use management::{
    Refused, display_names,
    people::{
        self, Person, Standing, password_resets,
        sessions::{self, Listed},
    },
};
use uuid::Uuid;

use super::{
    Named,
    role_form::{self, Chosen, Fields},
    show_once,
};
use crate::page::{self, Answer, Frame, PageRequest, Problems};

#[derive(Template)]
#[template(path = "people/person.html")]
struct Shown {
    frame: Frame,
    path: String,
    person: Person,
    team: Option<Named>,
    sites: String,
    joined: DateTime<Utc>,
    disabled: Option<DateTime<Utc>>,
    /// Whether the person who looks may change this one.
    may_change: bool,
    /// The team would have no owner without this person.
    is_only_owner: bool,
    fields: Fields,
    /// None: the person is in another team, too.
    sessions: Option<Vec<Listed>>,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default(), None).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    let member: MemberId = request.id("person")?;
    match update(&request, member).await {
        Ok(()) => request.lead_to(format!("people/{member}?done=person-changed")),
        Err(refused) => {
            let sent = Chosen::sent(&request.form);
            page(&request, Problems::of(refused)?, Some(sent)).await
        }
    }
}

async fn update(request: &PageRequest, member: MemberId) -> Result<(), Refused> {
    let wanted = role_form::read(&request.form)?;
    let caller = request.caller()?;
    people::update(&caller, member, |_| wanted).await?;
    Ok(())
}

pub(crate) async fn disable(request: PageRequest) -> Answer {
    let (member, caller) = (request.id("person")?, request.caller()?);
    match people::disable(&caller, member).await {
        Ok(()) => request.lead_to("people?done=person-disabled"),
        Err(refused) => page(&request, Problems::of(refused)?, None).await,
    }
}

pub(crate) async fn reset(request: PageRequest) -> Answer {
    let (member, caller): (MemberId, _) = (request.id("person")?, request.caller()?);
    match password_resets::create(&caller, member).await {
        Ok(issued) => {
            let frame = Frame::of(&request, "people").await?;
            let text = "Copy this link now and hand it to the person only. It works once, and it is not shown again. It ends \
                all sessions of the person. A second factor is still asked for.";
            let texts = ("A link to a new password", text);
            let secret = (&issued.secret, issued.expires_at);
            let back = (
                frame.path(&format!("people/{member}")),
                "Back to the person",
            );
            Ok(show_once(&request, frame, texts, secret, back))
        }
        Err(refused) => page(&request, Problems::of(refused)?, None).await,
    }
}

pub(crate) async fn end_session(request: PageRequest) -> Answer {
    let (member, caller): (MemberId, _) = (request.id("person")?, request.caller()?);
    sessions::end(&caller, request.id("session")?).await?;
    request.lead_to(format!("people/{member}?done=person-session-ended"))
}

async fn page(request: &PageRequest, problems: Problems, sent: Option<Chosen>) -> Answer {
    let frame = Frame::of(request, "people").await?;
    let (member, caller): (MemberId, _) = (request.id("person")?, request.caller()?);
    let person = people::get(&caller, member).await?;
    let sites = person.sites.iter().flatten().take(super::FEW);
    let ids = sites.map(|site| site.as_uuid());
    let team = person.team.filter(|_| frame.is_instance());
    let ids: Vec<Uuid> = ids.chain(team.map(TeamId::as_uuid)).collect();
    let names = display_names::of(&caller, &ids).await?;
    let now = Standing {
        role: person.role,
        sites: person.sites.clone(),
    };
    let chosen = sent.unwrap_or_else(|| Chosen::now(now));
    let sessions = sessions::of_person(&caller, member).await?;
    let page = Shown {
        is_only_owner: people::is_only_owner(&caller, member).await?,
        fields: Fields::of(&caller, &frame, &chosen).await?,
        may_change: frame.may(Scope::PeopleWrite) && frame.may_give(person.role),
        sites: super::sites(person.role, person.sites.as_deref(), &names),
        team: team.map(|team| Named::of(team, &names)),
        joined: person.created_at,
        disabled: person.disabled_at,
        sessions,
        path: frame.path(&format!("people/{member}")),
        frame,
        person,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
