//! The settings of a site, and the rule groups that judge for it.

mod form_values;
mod retention_preview;

use askama::Template;
use domain::{
    id::RuleGroupId,
    media::{CompatUnchecked, OnFailure, StatusVocabulary},
};
use management::{
    Noun, Refused,
    plans::Terms,
    providers,
    rule_groups::{self, Group, attachments},
    sites::{self, Settings},
};
use uuid::Uuid;

use self::form_values::Values;
use super::{
    labels::{self, Choice},
    page_header::{SiteHeader, Tab},
};
use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest, Problems, pager, stale_form},
    usage,
};

/// Rule groups that are offered.
const GROUPS: i64 = 200;

/// Fields of this page. What is wrong with anything else is told above the form.
const FIELDS: &[&str] = &[
    "name",
    "on_failure",
    "status_vocabulary",
    "providers",
    "policy",
    "answer_cache_seconds",
    "author_pointer",
    "compat_unchecked",
    "submissions_per_minute",
    "status_queries_per_minute",
    "item_retention_days",
    "content_retention_days",
    "image_retention_days",
    "webhook_retention_days",
    "default_rule_group_id",
    "group",
];

#[derive(Template)]
#[template(path = "sites/settings.html")]
struct Form {
    frame: Frame,
    here: SiteHeader,
    values: Values,
    /// The settings that the person has seen.
    seen: String,
    problems: Problems,
    on_failures: Vec<Choice>,
    vocabularies: Vec<Choice>,
    compat_uncheckeds: Vec<Choice>,
    /// What the team's plan allows.
    plan: Option<Terms>,
    /// Names of providers that can be chosen.
    providers: Vec<String>,
    /// The choices of providers: the first is asked first.
    places: Vec<String>,
    /// Groups that can be the default one.
    defaults: Vec<Group>,
    attached: Vec<Group>,
    /// Groups that are not attached.
    others: Vec<Group>,
    /// What the saved retention means now: of items, and of contents.
    outlook: [String; 2],
    /// Whether the team has groups that are not offered.
    has_more: bool,
}

impl Form {
    /// What the plan allows each key in a minute.
    fn allowed(&self, queries: bool) -> String {
        let Some(plan) = &self.plan else {
            return "Your team has no plan.".to_owned();
        };
        let allowed = if queries {
            plan.status_queries_per_minute
        } else {
            plan.submissions_per_minute
        };
        format!("Your plan allows {}.", grouped(allowed.get()))
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, None, Problems::default()).await
}

pub(crate) async fn save(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let values = Values::of_form(&request.form);
    let problems = match values.parsed() {
        Ok(parsed) => {
            let edit = |settings: Settings| parsed.applied_to(settings);
            let site = request.id("site")?;
            let is_seen = |settings: &Settings| {
                stale_form::is_seen(&request, &Values::of_settings(settings).seen())
            };
            match sites::update_seen(&caller, site, is_seen, edit).await {
                Ok(Ok(_)) => return Ok(request.lead_back("site-saved")),
                Ok(Err(outdated)) => stale_form::problems(&outdated),
                Err(refused) => Problems::of(refused)?,
            }
        }
        Err(problems) => problems,
    };
    page(&request, Some(values), problems).await
}

/// The page, with what was typed, or else with the present settings.
async fn page(request: &PageRequest, typed: Option<Values>, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Settings).await?;
    let team = request.team()?;
    let caller = request.caller()?;
    let settings = &here.site.settings;
    let groups = rule_groups::list(&caller, pager::first(GROUPS)).await?;
    let attached = attachments::list(&caller, here.site.id).await?;
    let mut defaults = groups.clone();
    let present = settings.default_rule_group;
    if !defaults.iter().any(|group| group.id == present) {
        defaults.push(rule_groups::get(&caller, present).await?);
    }
    let known = providers::list(&caller).await?;
    let outlook = sites::outlook(&caller, here.site.id).await?;
    let present = Values::of_settings(settings);
    let seen = stale_form::next(request, &problems, present.seen());
    let values = typed.unwrap_or(present);
    let mut names: Vec<String> = known
        .providers
        .into_iter()
        .map(|provider| provider.name)
        .collect();
    for chosen in &values.providers {
        if !names.contains(chosen) {
            names.push(chosen.clone());
        }
    }
    let page = Form {
        on_failures: labels::all(OnFailure::ALL, labels::on_failure),
        vocabularies: labels::all(StatusVocabulary::ALL, labels::vocabulary),
        compat_uncheckeds: labels::all(CompatUnchecked::ALL, labels::compat_unchecked),
        plan: usage::plan(request, team)
            .await?
            .map(|(_, plan)| plan.terms),
        places: values.places(names.len()),
        has_more: i64::try_from(groups.len()) == Ok(GROUPS),
        others: besides(groups, &attached),
        outlook: [
            retention_preview::items(&outlook),
            retention_preview::contents(&outlook),
        ],
        providers: names,
        frame,
        here,
        seen,
        values,
        problems,
        defaults,
        attached,
    };
    Ok(page::html(page.problems.status(), &page))
}

fn besides(groups: Vec<Group>, attached: &[Group]) -> Vec<Group> {
    let attached: Vec<RuleGroupId> = attached.iter().map(|group| group.id).collect();
    let groups = groups.into_iter();
    groups
        .filter(|group| !attached.contains(&group.id))
        .collect()
}

pub(crate) async fn attach(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let site = request.id("site")?;
    // Groups that the page did not offer are named by their id.
    let typed = request.form.get("group_id").trim();
    let named = if typed.is_empty() {
        request.form.get("group")
    } else {
        typed
    };
    let attached = match named.parse::<Uuid>() {
        Ok(group) => attachments::attach(&caller, site, group.into()).await,
        Err(_) => Err(unknown()),
    };
    let problems = match attached {
        Ok(()) => return settings_page(&request, "group-attached"),
        Err(Refused::NotFound(Noun::RuleGroup)) => Problems::of(unknown())?,
        Err(refused) => Problems::of(refused)?,
    };
    page(&request, None, problems).await
}

pub(crate) async fn detach(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (site, group): (_, RuleGroupId) = (request.id("site")?, request.id("group")?);
    attachments::detach(&caller, site, group).await?;
    settings_page(&request, "group-detached")
}

fn settings_page(request: &PageRequest, done: &str) -> Answer {
    let site = request.part::<Uuid>("site")?;
    request.lead_to(format!("sites/{site}/settings?done={done}"))
}

fn unknown() -> Refused {
    Refused::field("group", "must be one of your rule groups")
}
