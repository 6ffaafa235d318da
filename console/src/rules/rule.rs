//! The form of a rule: a new one, or one of the draft.

mod options;
mod page;
mod form_values;

use std::sync::Arc;

use domain::{
    id::RuleId,
    rules::{Rule, RuleType},
};
use management::{
    Caller, Conflict, Noun, Refused,
    rule_groups::{
        drafts,
        edits::{self, Edit},
    },
};
use poem::http::StatusCode;

use self::{
    page::{KINDS, Shown, form, unfit},
    form_values::Typed,
};
use super::{page_header, draft_form::revision};
use crate::{page::see_other, problems::Problems, router::Answer, error_page::PageError, request::PageRequest};

fn kind_of(name: &str) -> RuleType {
    let mut kinds = KINDS.iter().map(|(kind, ..)| *kind);
    kinds
        .find(|kind| kind.as_str() == name)
        .unwrap_or(RuleType::Keyword)
}

pub(crate) async fn new(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let typed = Typed::fresh(kind_of(visit.query.get("kind")));
    let shown = Shown::new(None, typed);
    form(&visit, &caller, shown).await
}

pub(crate) async fn edit(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let id = visit.id("rule")?;
    let (rule, revision) = find(&visit, &caller, id).await?;
    let rule = rule.ok_or(Refused::NotFound(Noun::Rule))?;
    match Typed::of_rule(&rule) {
        Ok(typed) => {
            let mut shown = Shown::new(Some(id), typed);
            shown.revision = Some(revision);
            form(&visit, &caller, shown).await
        }
        Err(why) => unfit(&visit, &caller, rule.name, why).await,
    }
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    save(&visit, None).await
}

pub(crate) async fn replace(visit: Arc<PageRequest>) -> Answer {
    save(&visit, Some(visit.id("rule")?)).await
}

async fn save(visit: &PageRequest, rule: Option<RuleId>) -> Answer {
    let group = visit.id("group")?;
    let caller = visit.caller(Some(visit.team()?))?;
    let typed = Typed::of_form(kind_of(visit.form.get("type")), &visit.form);
    let saved = match typed.body() {
        Ok(body) => {
            let edit = match rule {
                Some(rule) => Edit::Replace(rule, body),
                None => Edit::Add(body),
            };
            edits::edit(&visit.management, &caller, group, revision(visit), edit).await
        }
        Err(problems) => Err(Refused::fields(problems)),
    };
    let mut shown = Shown::new(rule, typed);
    match saved {
        Ok(()) => {
            let path = page_header::path(visit, group, "?done=rule-saved")?;
            return Ok(see_other(path));
        }
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let present = match rule {
                Some(id) => find(visit, &caller, id).await?.0,
                None => None,
            };
            shown.overtaken(present)?;
        }
        Err(Refused::Fields(mut fields)) => {
            shown.status = StatusCode::UNPROCESSABLE_ENTITY;
            shown.revision = Some(revision(visit));
            for problem in &mut fields.problems {
                shown.typed.name_line(problem);
            }
            shown.problems = Problems::of(Refused::Fields(fields))?;
        }
        Err(refused) => {
            shown.status = StatusCode::UNPROCESSABLE_ENTITY;
            shown.revision = Some(revision(visit));
            shown.problems = Problems::of(refused)?;
        }
    }
    form(visit, &caller, shown).await
}

/// A rule of the draft, and the revision of the draft.
async fn find(
    visit: &PageRequest,
    caller: &Caller,
    rule: RuleId,
) -> Result<(Option<Rule>, i64), PageError> {
    let draft = drafts::get(&visit.management, caller, visit.id("group")?).await?;
    let mut rules = draft.draft.rules.into_iter();
    Ok((rules.find(|known| known.id == rule), draft.draft.revision))
}
