//! Changes of a draft that need no page of their own: a rule is moved, switched or removed, or the whole draft is discarded.

use domain::id::RuleId;
use management::rule_groups::{
    self, drafts,
    edits::{self, Edit},
};
use poem::http::StatusCode;

use super::{
    group,
    page_header::{problems, revision},
    publish,
};
use crate::page::{Answer, PageError, PageRequest, Problems};

pub(crate) async fn change(request: PageRequest) -> Answer {
    let (group, rule) = (request.id("group")?, request.id("rule")?);
    let (edit, done) = wanted(&request, rule).ok_or(PageError::NotAForm)?;
    let caller = request.caller()?;
    let revision = revision(&request);
    match edits::edit(&caller, group, revision, edit).await {
        Ok(()) => request.lead_to(format!("rules/{group}?done={done}")),
        Err(refused) => group::page(&request, &problems(refused)?).await,
    }
}

/// What the button asks for, and the short name of what is then done.
fn wanted(request: &PageRequest, rule: RuleId) -> Option<(Edit, &'static str)> {
    if let Ok(to) = request.form.get("to").parse() {
        return Some((Edit::Move(rule, to), "rule-moved"));
    }
    match (request.form.get("on"), request.form.get("remove")) {
        ("yes", _) => Some((Edit::Switch(rule, true), "rule-on")),
        ("no", _) => Some((Edit::Switch(rule, false), "rule-off")),
        (_, "yes") => Some((Edit::Remove(rule), "rule-removed")),
        _ => None,
    }
}

pub(crate) async fn discard(request: PageRequest) -> Answer {
    let group = request.id("group")?;
    let caller = request.caller()?;
    let found = rule_groups::get(&caller, group).await?;
    if request.form.get("typed") != found.name {
        let problems = Problems::field("typed", "This is not the name of the group.");
        return publish::page(&request, problems).await;
    }
    let seen = Some(revision(&request));
    match drafts::discard(&caller, group, seen).await {
        Ok(_) => request.lead_to(format!("rules/{group}?done=draft-discarded")),
        Err(refused) => {
            let problems = problems(refused)?.with_status(StatusCode::CONFLICT);
            publish::page(&request, problems).await
        }
    }
}
