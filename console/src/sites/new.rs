//! A new site, with a rule group of its own or with one that exists.

use std::sync::Arc;

use askama::Template;
use domain::{id::TeamId, name::Name, rules::InputRules, scope::Scope};
use management::{
    Refused,
    provisioning::{self, NewSite},
    rule_groups::{self, Group},
    sites::{self, IssuedSite, Page, Settings},
};
use poem::http::StatusCode;

use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
};

/// Rule groups that are offered.
const GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/new.html")]
struct New<'a> {
    frame: Frame,
    team: Area,
    groups: Vec<Group>,
    name: &'a str,
    /// The group that was chosen. Empty: a new one.
    group: &'a str,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "sites/created.html")]
struct Created {
    frame: Frame,
    team: Area,
    issued: IssuedSite,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    match site(&request, team).await {
        // The secret is shown once, so this page is the answer itself and has no address.
        Ok(issued) => Ok(page::shown(&Created {
            frame: Frame::of(&request, Area::Team(team), "sites").await?,
            team: Area::Team(team),
            issued,
        })),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn site(request: &PageRequest, team: TeamId) -> Result<IssuedSite, Refused> {
    let caller = request.caller(Some(team))?;
    let name = request.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let group = request.form.get("group");
    if group.is_empty() {
        let new = NewSite {
            group: name.clone(),
            name,
            rules: InputRules::default(),
        };
        let (issued, _) = provisioning::site(&request.management, &caller, team, new).await?;
        return Ok(issued);
    }
    let unknown = |_| Refused::field("group", "must be one of the rule groups");
    let group: uuid::Uuid = group.parse().map_err(unknown)?;
    let settings = Settings::named(name.as_str().to_owned(), group.into());
    sites::create(&request.management, &caller, Some(team), &settings).await
}

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let team = request.team()?;
    let frame = Frame::of(request, Area::Team(team), "sites").await?;
    let frame = frame.require(Scope::SitesWrite)?;
    let caller = request.caller(Some(team))?;
    let page = Page {
        after: None,
        limit: GROUPS,
    };
    let groups = rule_groups::list(&request.management, &caller, page).await?;
    let page = New {
        frame,
        team: Area::Team(team),
        groups,
        name: request.form.get("name"),
        group: request.form.get("group"),
        problems,
    };
    Ok(page::html(status, &page))
}
