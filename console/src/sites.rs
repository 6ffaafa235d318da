//! The sites of a team.

pub(crate) mod desk;
pub(crate) mod keys;
mod labels;
pub(crate) mod new;
pub(crate) mod overview;
mod page_header;
pub(crate) mod settings;
pub(crate) mod webhook_secret;

use std::collections::HashMap;

use askama::Template;
use domain::id::{RuleGroupId, SiteId};
use management::{
    rule_groups,
    sites::{self, Counts, ManagedSite},
};

use crate::page::{self, Answer, Frame, PageRequest, pager};

/// Rule groups that are known by name in lists.
const NAMED_GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "sites.html")]
struct List {
    frame: Frame,
    cards: Vec<Card>,
    /// The address of the next page.
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
    let management = &request.management;
    let sites = sites::list(management, &caller, pager::asked(&request)).await?;
    let ids: Vec<SiteId> = sites.iter().map(|site| site.id).collect();
    let counts = sites::counts(management, &caller, &ids).await?;
    let counts = counts
        .into_iter()
        .map(|counts| (counts.site, counts))
        .collect();
    let first = pager::first(NAMED_GROUPS);
    let names = rule_groups::list(management, &caller, first).await?;
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
