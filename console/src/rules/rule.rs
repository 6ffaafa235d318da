//! The form of a rule: a new one, or one of the draft.

mod form_values;
mod options;
mod page;

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
    form_values::Typed,
    page::{KINDS, Shown, form, unfit},
};
use super::{draft_form::revision, page_header};
use crate::page::{Answer, PageError, PageRequest, Problems, see_other};

fn kind_of(name: &str) -> RuleType {
    let mut kinds = KINDS.iter().map(|(kind, ..)| *kind);
    kinds
        .find(|kind| kind.as_str() == name)
        .unwrap_or(RuleType::Keyword)
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let typed = Typed::fresh(kind_of(request.query.get("kind")));
    let shown = Shown::new(None, typed);
    form(&request, &caller, shown).await
}

pub(crate) async fn edit(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id = request.id("rule")?;
    let (rule, revision) = find(&request, &caller, id).await?;
    let rule = rule.ok_or(Refused::NotFound(Noun::Rule))?;
    match Typed::of_rule(&rule) {
        Ok(typed) => {
            let mut shown = Shown::new(Some(id), typed);
            shown.revision = Some(revision);
            form(&request, &caller, shown).await
        }
        Err(why) => unfit(&request, &caller, rule.name, why).await,
    }
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    save(&request, None).await
}

pub(crate) async fn replace(request: PageRequest) -> Answer {
    save(&request, Some(request.id("rule")?)).await
}

async fn save(request: &PageRequest, rule: Option<RuleId>) -> Answer {
    let group = request.id("group")?;
    let caller = request.caller()?;
    let typed = Typed::of_form(kind_of(request.form.get("type")), &request.form);
    let saved = match typed.body() {
        Ok(body) => {
            let edit = match rule {
                Some(rule) => Edit::Replace(rule, body),
                None => Edit::Add(body),
            };
            edits::edit(&request.management, &caller, group, revision(request), edit).await
        }
        Err(problems) => Err(Refused::fields(problems)),
    };
    let mut shown = Shown::new(rule, typed);
    match saved {
        Ok(()) => {
            let path = page_header::path(request, group, "?done=rule-saved")?;
            return Ok(see_other(path));
        }
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let present = match rule {
                Some(id) => find(request, &caller, id).await?.0,
                None => None,
            };
            shown.overtaken(present)?;
        }
        Err(Refused::Fields(mut fields)) => {
            shown.status = StatusCode::UNPROCESSABLE_ENTITY;
            shown.revision = Some(revision(request));
            for problem in &mut fields.problems {
                shown.typed.name_line(problem);
            }
            shown.problems = Problems::of(Refused::Fields(fields))?;
        }
        Err(refused) => {
            shown.status = StatusCode::UNPROCESSABLE_ENTITY;
            shown.revision = Some(revision(request));
            shown.problems = Problems::of(refused)?;
        }
    }
    form(request, &caller, shown).await
}

/// A rule of the draft, and the revision of the draft.
async fn find(
    request: &PageRequest,
    caller: &Caller,
    rule: RuleId,
) -> Result<(Option<Rule>, i64), PageError> {
    let draft = drafts::get(&request.management, caller, request.id("group")?).await?;
    let mut rules = draft.draft.rules.into_iter();
    Ok((rules.find(|known| known.id == rule), draft.draft.revision))
}
