//! Attaching rule groups to a site and detaching them.

use std::sync::Arc;

use domain::id::RuleGroupId;
use management::{Noun, Refused, rule_groups::attachments};
use poem::http::StatusCode;
use uuid::Uuid;

use super::settings;
use crate::{page, problems::Problems, request::PageRequest, router::Answer};

pub(crate) async fn attach(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let site = request.id("site")?;
    // Groups that the page did not offer are named by their id.
    let typed = request.form.get("group_id").trim();
    let named = if typed.is_empty() {
        request.form.get("group")
    } else {
        typed
    };
    let attached = match named.parse::<Uuid>() {
        Ok(group) => attachments::attach(&request.management, &caller, site, group.into()).await,
        Err(_) => Err(unknown()),
    };
    let problems = match attached {
        Ok(()) => return settings_page(&request, "group-attached"),
        Err(Refused::NotFound(Noun::RuleGroup)) => Problems::of(unknown())?,
        Err(refused) => Problems::of(refused)?,
    };
    settings::page(&request, StatusCode::UNPROCESSABLE_ENTITY, None, problems).await
}

pub(crate) async fn detach(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let (site, group): (_, RuleGroupId) = (request.id("site")?, request.id("group")?);
    attachments::detach(&request.management, &caller, site, group).await?;
    settings_page(&request, "group-detached")
}

fn settings_page(request: &PageRequest, done: &str) -> Answer {
    let (team, site) = (request.team()?, request.part::<Uuid>("site")?);
    let path = format!("/t/{team}/sites/{site}/settings?done={done}");
    Ok(page::see_other(path))
}

fn unknown() -> Refused {
    Refused::field("group", "must be one of your rule groups")
}
