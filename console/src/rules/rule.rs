//! The form of a rule: a new one, or one of the draft.

mod form_values;
mod options;

use askama::Template;
use domain::{
    id::RuleId,
    name::Name,
    rule_file::RuleFile,
    rules::{Rule, RuleType},
    score::Category,
};
use management::{
    Caller, Conflict, Noun, Refused,
    rule_groups::{
        drafts,
        edits::{self, Edit},
    },
};

use self::form_values::{Choice, Typed, Unfit};
use super::{
    names::Lists,
    page_header::{self, Head, Tab, revision},
};
use crate::{
    page::{self, Answer, Frame, PageError, PageRequest, Problems},
    visible_text::truncate,
};

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
            edits::edit(&caller, group, revision(request), edit).await
        }
        Err(problems) => Err(problems.into_refused()),
    };
    let mut shown = Shown::new(rule, typed);
    match saved {
        Ok(()) => return request.lead_to(format!("rules/{group}?done=rule-saved")),
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let present = match rule {
                Some(id) => find(request, &caller, id).await?.0,
                None => None,
            };
            shown.overtaken(present);
        }
        Err(mut refused) => {
            shown.revision = Some(revision(request));
            if let Refused::Fields(fields) = &mut refused {
                for problem in &mut fields.problems {
                    shown.typed.name_line(problem);
                }
            }
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
    let draft = drafts::get(caller, request.id("group")?).await?;
    let mut rules = draft.draft.rules.into_iter();
    Ok((rules.find(|known| known.id == rule), draft.draft.revision))
}

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
            && form_values::FIELDS
                .iter()
                .all(|field| self.problems.at(field).is_none())
    }

    fn besides(&self) -> Vec<String> {
        self.problems.besides(&form_values::FIELDS)
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

/// Says why there is no form for a rule.
async fn unfit(request: &PageRequest, caller: &Caller, name: String, unfit: Unfit) -> Answer {
    let (frame, head) = page_header::open(request, caller, Tab::Rules).await?;
    Ok(page::shown(&NotHere {
        frame,
        head,
        name,
        unfit,
    }))
}

/// What the form shows.
struct Shown {
    rule: Option<RuleId>,
    typed: Typed,
    /// The revision that the next attempt builds on. None: the present one.
    revision: Option<i64>,
    problems: Problems,
    present: Option<String>,
}

impl Shown {
    fn new(rule: Option<RuleId>, typed: Typed) -> Self {
        Self {
            rule,
            typed,
            revision: None,
            problems: Problems::default(),
            present: None,
        }
    }

    /// Somebody else changed the draft. What was typed stays, and the next attempt builds on the new draft.
    fn overtaken(&mut self, present: Option<Rule>) {
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
        self.problems = Problems::conflict(text);
        if present.is_none() {
            self.rule = None;
        }
        self.present = present.map(|rule| truncate(&yaml(rule), PRESENT_CHARS));
    }
}

async fn form(request: &PageRequest, caller: &Caller, shown: Shown) -> Answer {
    let lists = if shown.typed.kind == RuleType::ImageHash {
        Lists::of(caller).await?
    } else {
        Lists::default()
    };
    let (frame, head) = page_header::open(request, caller, Tab::Rules).await?;
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
    Ok(page::html(page.problems.status(), &page))
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
