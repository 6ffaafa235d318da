//! Changes of a draft that need no page of their own: a rule is moved, switched or removed, or the whole draft is discarded.

use std::sync::Arc;

use domain::id::RuleId;
use management::{
    Conflict, Refused,
    rule_groups::{
        self, drafts,
        edits::{self, Edit},
    },
};
use poem::http::StatusCode;

use super::{
    group, page_header, publish,
    draft_form::{OVERTAKEN, revision},
};
use crate::{page, problems::Problems, router::Answer, error_page::PageError, request::PageRequest};

pub(crate) async fn change(visit: Arc<PageRequest>) -> Answer {
    let (group, rule) = (visit.id("group")?, visit.id("rule")?);
    let (edit, done) = wanted(&visit, rule).ok_or(PageError::NotAForm)?;
    let caller = visit.caller(Some(visit.team()?))?;
    let revision = revision(&visit);
    match edits::edit(&visit.management, &caller, group, revision, edit).await {
        Ok(()) => Ok(page::see_other(page_header::path(
            &visit,
            group,
            &format!("?done={done}"),
        )?)),
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let problems = Problems::of(Refused::Invalid(OVERTAKEN.into()))?;
            group::page(&visit, StatusCode::CONFLICT, &problems).await
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            group::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, &problems).await
        }
    }
}

/// What the button asks for, and the short name of what is then done.
fn wanted(visit: &PageRequest, rule: RuleId) -> Option<(Edit, &'static str)> {
    if let Ok(to) = visit.form.get("to").parse() {
        return Some((Edit::Move(rule, to), "rule-moved"));
    }
    match (visit.form.get("on"), visit.form.get("remove")) {
        ("yes", _) => Some((Edit::Switch(rule, true), "rule-on")),
        ("no", _) => Some((Edit::Switch(rule, false), "rule-off")),
        (_, "yes") => Some((Edit::Remove(rule), "rule-removed")),
        _ => None,
    }
}

pub(crate) async fn discard(visit: Arc<PageRequest>) -> Answer {
    let group = visit.id("group")?;
    let caller = visit.caller(Some(visit.team()?))?;
    let found = rule_groups::get(&visit.management, &caller, group).await?;
    let mut problems = Problems::default();
    if visit.form.get("typed") != found.name {
        problems.add("typed", "This is not the name of the group.");
        return publish::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await;
    }
    let seen = Some(revision(&visit));
    match drafts::discard(&visit.management, &caller, group, seen).await {
        Ok(_) => {
            let path = page_header::path(&visit, group, "?done=draft-discarded")?;
            Ok(page::see_other(path))
        }
        Err(refused) => {
            let problems = Problems::of(match refused {
                Refused::Conflict(Conflict::DraftChanged, _) => Refused::Invalid(OVERTAKEN.into()),
                other => other,
            })?;
            publish::page(&visit, StatusCode::CONFLICT, problems).await
        }
    }
}
