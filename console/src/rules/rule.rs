//! The form of a rule: a new one, or one of the draft.

mod choice;
mod typed;

use std::sync::Arc;

use askama::Template;
use domain::{
    id::RuleId,
    image_hash::ListKind,
    name::Name,
    rule_file::RuleFile,
    rules::{Rule, RuleType},
    score::Category,
};
use management::{
    Caller, Conflict, FieldProblem, Noun, Refused,
    rule_groups::{
        drafts,
        edits::{self, Edit},
    },
};
use poem::http::StatusCode;

use self::typed::{Choice, Typed, Unfit};
use super::{
    cut::cut,
    head::{self, Head, Tab},
    lists::Lists,
    sent::revision,
};
use crate::{
    page::{self, Frame},
    problems::Problems,
    router::Answer,
    trouble::Trouble,
    visit::Visit,
};

/// The kinds, what they are called, and what they look for.
const KINDS: [(RuleType, &str, &str); 5] = [
    (
        RuleType::Keyword,
        "Words",
        "Words and phrases, also in disguise: other case, accents, look-alikes, digits for letters, dots between letters.",
    ),
    (
        RuleType::Regex,
        "Pattern",
        "A regular expression on the text as it was submitted.",
    ),
    (
        RuleType::Link,
        "Links",
        "Links to some domains, or to all but some.",
    ),
    (
        RuleType::ImageHash,
        "Known images",
        "Images that are on a hash list: the same file, or one that looks the same.",
    ),
    (
        RuleType::AiThreshold,
        "Score",
        "A category's score from the providers, at or over a threshold.",
    ),
];

/// Characters of the present rule that are shown beside what was typed.
const PRESENT_CHARS: usize = 10_000;

#[derive(Template)]
#[template(path = "rules/rule.html")]
struct Form {
    frame: Frame,
    head: Head,
    /// The rule that is edited. None: a new one.
    rule: Option<RuleId>,
    typed: Typed,
    revision: i64,
    choices: Vec<Choice>,
    problems: Problems,
    /// The rule as it is in the draft now, if somebody else changed the draft meanwhile.
    present: Option<String>,
}

impl Form {
    fn is(&self, kind: &str) -> bool {
        self.typed.kind.as_str() == kind
    }

    fn explained(&self) -> &'static str {
        let found = KINDS.iter().find(|(kind, ..)| *kind == self.typed.kind);
        found.map_or("", |(_, _, text)| text)
    }

    /// Whether nothing is wrong yet.
    fn is_fine(&self) -> bool {
        self.besides().is_empty()
            && typed::FIELDS
                .iter()
                .all(|field| self.problems.at(field).is_none())
    }

    fn besides(&self) -> Vec<String> {
        self.problems.besides(&typed::FIELDS)
    }

    fn action(&self) -> String {
        match self.rule {
            Some(rule) => self.head.path(&format!("/rules/{rule}")),
            None => self.head.path("/rules/new"),
        }
    }
}

#[derive(Template)]
#[template(path = "rules/unfit.html")]
struct NotHere {
    frame: Frame,
    head: Head,
    name: String,
    unfit: Unfit,
}

fn kind_of(name: &str) -> RuleType {
    let mut kinds = KINDS.iter().map(|(kind, ..)| *kind);
    kinds
        .find(|kind| kind.as_str() == name)
        .unwrap_or(RuleType::Keyword)
}

pub(crate) async fn new(visit: Arc<Visit>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let typed = Typed::fresh(kind_of(visit.query.get("kind")));
    let shown = Shown::new(None, typed);
    form(&visit, &caller, shown).await
}

pub(crate) async fn edit(visit: Arc<Visit>) -> Answer {
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
        Err(unfit) => {
            let (frame, head) = head::open_to_edit(&visit, &caller, Tab::Rules).await?;
            Ok(page::shown(&NotHere {
                frame,
                head,
                name: rule.name,
                unfit,
            }))
        }
    }
}

pub(crate) async fn create(visit: Arc<Visit>) -> Answer {
    save(&visit, None).await
}

pub(crate) async fn replace(visit: Arc<Visit>) -> Answer {
    save(&visit, Some(visit.id("rule")?)).await
}

async fn save(visit: &Visit, rule: Option<RuleId>) -> Answer {
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
            let path = head::path(visit, group, "?done=rule-saved")?;
            return Ok(page::see_other(path));
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

/// What the form shows.
struct Shown {
    rule: Option<RuleId>,
    typed: Typed,
    /// The revision that the next attempt builds on. None: the present one.
    revision: Option<i64>,
    status: StatusCode,
    problems: Problems,
    present: Option<String>,
}

impl Shown {
    fn new(rule: Option<RuleId>, typed: Typed) -> Self {
        Self {
            rule,
            typed,
            revision: None,
            status: StatusCode::OK,
            problems: Problems::default(),
            present: None,
        }
    }

    /// Somebody else changed the draft. What was typed stays, and the next attempt builds on the new draft.
    fn overtaken(&mut self, present: Option<Rule>) -> Result<(), Trouble> {
        let text = match (self.rule, &present) {
            (Some(_), Some(_)) => {
                "Somebody else changed the draft meanwhile. What you typed is kept, and nothing is stored yet. \
                 Below is this rule in the draft as it is now. Save again to replace it."
            }
            (Some(_), None) => {
                "Somebody else removed this rule from the draft meanwhile. What you typed is kept. \
                 Save again to add it as a new rule."
            }
            (None, _) => {
                "Somebody else changed the draft meanwhile. What you typed is kept, and nothing is stored yet. \
                 Save again to add the rule to the draft as it is now."
            }
        };
        self.status = StatusCode::CONFLICT;
        self.problems = Problems::of(Refused::Invalid(text.into()))?;
        if present.is_none() {
            self.rule = None;
        }
        self.present = present.map(|rule| cut(&yaml(rule), PRESENT_CHARS));
        Ok(())
    }
}

async fn form(visit: &Visit, caller: &Caller, shown: Shown) -> Answer {
    let lists = if shown.typed.kind == RuleType::ImageHash {
        Lists::of(visit, caller).await?
    } else {
        Lists::default()
    };
    let (frame, head) = head::open_to_edit(visit, caller, Tab::Rules).await?;
    let page = Form {
        choices: shown.typed.choices(&lists),
        revision: shown.revision.unwrap_or(head.group().draft_revision),
        frame,
        head,
        rule: shown.rule,
        typed: shown.typed,
        problems: shown.problems,
        present: shown.present,
    };
    Ok(page::html(shown.status, &page))
}

/// A rule of the draft, and the revision of the draft.
async fn find(
    visit: &Visit,
    caller: &Caller,
    rule: RuleId,
) -> Result<(Option<Rule>, i64), Trouble> {
    let draft = drafts::get(&visit.management, caller, visit.id("group")?).await?;
    let mut rules = draft.draft.rules.into_iter();
    Ok((rules.find(|known| known.id == rule), draft.draft.revision))
}

/// A rule as it is in a file.
fn yaml(rule: Rule) -> String {
    let Ok(name) = "rule".parse::<Name>() else {
        return String::new();
    };
    let file = RuleFile {
        name,
        rules: vec![rule.into()],
    };
    let yaml = file.to_yaml();
    yaml.split_once("rules:\n")
        .map_or_else(String::new, |(_, rule)| rule.to_owned())
}

const fn list_kind(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Deny => "unwanted images",
        ListKind::Allow => "known good images",
    }
}

/// Adds to a mistake in a list which of its lines is wrong.
fn in_line(problem: &mut FieldProblem, line: &str) {
    problem.message = format!("“{}”: {}", cut(line, 60), problem.message);
}
