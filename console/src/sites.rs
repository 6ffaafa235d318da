//! The sites of a team: the list, and a new one with a rule group of its own or with one that exists.

pub(crate) mod desk;
pub(crate) mod keys;
mod labels;
pub(crate) mod overview;
mod page_header;
pub(crate) mod settings;
pub(crate) mod webhook_secret;

use std::collections::HashMap;

use askama::Template;
use domain::{
    id::{RuleGroupId, SiteId, TeamId},
    name::Name,
    rules::InputRules,
};
use management::{
    Refused,
    provisioning::{self, NewSite},
    rule_groups::{self, Group},
    sites::{self, Counts, IssuedSite, ManagedSite, Settings},
};

use crate::page::{self, Answer, Frame, PageRequest, Problems, pager};

/// Rule groups that are known by name in lists.
const NAMED_GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites.html")]
struct List {
    frame: Frame,
    cards: Vec<Card>,
    next: Option<String>,
}

/// What a list shows of a site.
struct Card {
    site: ManagedSite,
    keys: i64,
    endpoints: i64,
    /// The names of the first rule groups that judge.
    groups: Vec<String>,
    /// How many groups judge besides.
    more_groups: usize,
    on_failure: &'static str,
}

impl Card {
    /// Group names of a card.
    const NAMES: usize = 3;

    fn new(
        site: ManagedSite,
        counts: &HashMap<SiteId, Counts>,
        names: &HashMap<RuleGroupId, String>,
    ) -> Self {
        let settings = &site.settings;
        let judge = match settings.rule_groups.as_slice() {
            [] => std::slice::from_ref(&settings.default_rule_group),
            attached => attached,
        };
        let known = judge.iter().filter_map(|group| names.get(group));
        let groups: Vec<String> = known.take(Self::NAMES).cloned().collect();
        let counts = counts.get(&site.id);
        Self {
            keys: counts.map_or(0, |counts| counts.keys),
            endpoints: counts.map_or(0, |counts| counts.endpoints),
            more_groups: judge.len() - groups.len(),
            groups,
            on_failure: labels::on_failure(settings.on_failure).name,
            site,
        }
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let sites = sites::list(&caller, pager::asked(&request)).await?;
    let ids: Vec<SiteId> = sites.iter().map(|site| site.id).collect();
    let counts = sites::counts(&caller, &ids).await?;
    let counts = counts
        .into_iter()
        .map(|counts| (counts.site, counts))
        .collect();
    let first = pager::first(NAMED_GROUPS);
    let names = rule_groups::list(&caller, first).await?;
    let names = names
        .into_iter()
        .map(|group| (group.id, group.name))
        .collect();
    Ok(page::shown(&List {
        frame: Frame::of(&request, "sites").await?,
        next: pager::next(&request, &sites, |site| site.id),
        cards: sites
            .into_iter()
            .map(|site| Card::new(site, &counts, &names))
            .collect(),
    }))
}

/// Rule groups that are offered.
const GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/new.html")]
struct New {
    frame: Frame,
    groups: Vec<Group>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "sites/created.html")]
struct Created {
    frame: Frame,
    issued: IssuedSite,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
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
        let (issued, _) = provisioning::site(&caller, team, new).await?;
        return Ok(issued);
    }
    let unknown = |_| Refused::field("group", "must be one of the rule groups");
    let group: uuid::Uuid = group.parse().map_err(unknown)?;
    let settings = Settings::named(name.as_str().to_owned(), group.into());
    sites::create(&caller, Some(team), &settings).await
}

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "sites").await?;
    let caller = request.caller()?;
    let page = pager::first(GROUPS);
    let groups = rule_groups::list(&caller, page).await?;
    let page = New {
        frame,
        groups,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
