//! A new site, with a rule group of its own or with one that exists.

use askama::Template;
use domain::{id::TeamId, name::Name, rules::InputRules};
use management::{
    Refused,
    provisioning::{self, NewSite},
    rule_groups::{self, Group},
    sites::{self, IssuedSite, Settings},
};

use crate::page::{self, Answer, Frame, PageRequest, Problems, pager};

/// Rule groups that are offered.
const GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/new.html")]
struct New<'a> {
    frame: Frame,
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
    issued: IssuedSite,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let team = request.team()?;
    match site(&request, team).await {
        // The secret is shown once, so this page is the answer itself and has no address.
        Ok(issued) => Ok(page::shown(&Created {
            frame: Frame::of(&request, "sites").await?,
            issued,
        })),
        Err(refused) => form(&request, Problems::of(refused)?).await,
    }
}

async fn site(request: &PageRequest, team: TeamId) -> Result<IssuedSite, Refused> {
    let caller = request.caller()?;
    let name: Name = request.form.read("name")?;
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

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "sites").await?;
    let caller = request.caller()?;
    let page = pager::first(GROUPS);
    let groups = rule_groups::list(&request.management, &caller, page).await?;
    let page = New {
        frame,
        groups,
        name: request.form.get("name"),
        group: request.form.get("group"),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
