//! A new site, with a rule group of its own or with one that exists.

use std::sync::Arc;

use askama::Template;
use domain::{id::TeamId, name::Name, rules::InputRules, scope::Scope};
use management::{
    Refused,
    rule_groups::{self, Group},
    provisioning::{self, NewSite},
    sites::{self, IssuedSite, Page, Settings},
};
use poem::http::StatusCode;

use crate::{
    page::{self, At, Frame},
    problems::Problems,
    router::Answer,
    visit::Visit,
};

/// Rule groups that are offered.
const GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/new.html")]
struct New<'a> {
    frame: Frame,
    team: At,
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
    team: At,
    issued: IssuedSite,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Answer {
    let team = visit.team()?;
    match site(&visit, team).await {
        // The secret is shown once, so this page is the answer itself and has no address.
        Ok(issued) => Ok(page::shown(&Created {
            frame: Frame::of(&visit, At::Team(team), "sites").await?,
            team: At::Team(team),
            issued,
        })),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn site(visit: &Visit, team: TeamId) -> Result<IssuedSite, Refused> {
    let caller = visit.caller(Some(team))?;
    let name = visit.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let group = visit.form.get("group");
    if group.is_empty() {
        let new = NewSite {
            group: name.clone(),
            name,
            rules: InputRules::default(),
        };
        let (issued, _) = provisioning::site(&visit.management, &caller, team, new).await?;
        return Ok(issued);
    }
    let unknown = |_| Refused::field("group", "must be one of the rule groups");
    let group: uuid::Uuid = group.parse().map_err(unknown)?;
    let settings = Settings::named(name.as_str().to_owned(), group.into());
    sites::create(&visit.management, &caller, Some(team), &settings).await
}

async fn form(visit: &Visit, status: StatusCode, problems: Problems) -> Answer {
    let team = visit.team()?;
    let frame = Frame::of(visit, At::Team(team), "sites").await?;
    let frame = frame.require(Scope::SitesWrite)?;
    let caller = visit.caller(Some(team))?;
    let page = Page {
        after: None,
        limit: GROUPS,
    };
    let groups = rule_groups::list(&visit.management, &caller, page).await?;
    let page = New {
        frame,
        team: At::Team(team),
        groups,
        name: visit.form.get("name"),
        group: visit.form.get("group"),
        problems,
    };
    Ok(page::html(status, &page))
}
