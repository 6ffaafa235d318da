//! Attaching rule groups to a site and detaching them.

use std::sync::Arc;

use domain::id::RuleGroupId;
use management::{Noun, Refused, rule_groups::attachments};
use poem::http::StatusCode;
use uuid::Uuid;

use super::settings;
use crate::{page, problems::Problems, router::Answer, request::PageRequest};

pub(crate) async fn attach(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let site = visit.id("site")?;
    // Groups that the page did not offer are named by their id.
    let typed = visit.form.get("group_id").trim();
    let named = if typed.is_empty() {
        visit.form.get("group")
    } else {
        typed
    };
    let attached = match named.parse::<Uuid>() {
        Ok(group) => attachments::attach(&visit.management, &caller, site, group.into()).await,
        Err(_) => Err(unknown()),
    };
    let problems = match attached {
        Ok(()) => return settings_page(&visit, "group-attached"),
        Err(Refused::NotFound(Noun::RuleGroup)) => Problems::of(unknown())?,
        Err(refused) => Problems::of(refused)?,
    };
    settings::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, None, problems).await
}

pub(crate) async fn detach(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (site, group): (_, RuleGroupId) = (visit.id("site")?, visit.id("group")?);
    attachments::detach(&visit.management, &caller, site, group).await?;
    settings_page(&visit, "group-detached")
}

fn settings_page(visit: &PageRequest, done: &str) -> Answer {
    let (team, site) = (visit.team()?, visit.part::<Uuid>("site")?);
    let path = format!("/t/{team}/sites/{site}/settings?done={done}");
    Ok(page::see_other(path))
}

fn unknown() -> Refused {
    Refused::field("group", "must be one of your rule groups")
}
