//! The page with the form of a rule.

use askama::Template;
use domain::{
    id::RuleId,
    name::Name,
    rule_file::RuleFile,
    rules::{Rule, RuleType},
    score::Category,
};
use management::{Caller, Refused};
use poem::http::StatusCode;

use super::form_values::{self, Choice, Typed, Unfit};
use crate::{
    page::{self, Answer, Frame, PageError, PageRequest, Problems},
    rules::{
        hash_lists::Lists,
        page_header::{self, Head, Tab},
        truncate::truncate,
    },
};

/// The kinds, what they are called, and what they look for.
pub(super) const KINDS: [(RuleType, &str, &str); 5] = [
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
pub(super) async fn unfit(
    request: &PageRequest,
    caller: &Caller,
    name: String,
    unfit: Unfit,
) -> Answer {
    let (frame, head) = page_header::open_to_edit(request, caller, Tab::Rules).await?;
    Ok(page::shown(&NotHere {
        frame,
        head,
        name,
        unfit,
    }))
}

/// What the form shows.
pub(super) struct Shown {
    pub(super) rule: Option<RuleId>,
    pub(super) typed: Typed,
    /// The revision that the next attempt builds on. None: the present one.
    pub(super) revision: Option<i64>,
    pub(super) status: StatusCode,
    pub(super) problems: Problems,
    present: Option<String>,
}

impl Shown {
    pub(super) fn new(rule: Option<RuleId>, typed: Typed) -> Self {
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
    pub(super) fn overtaken(&mut self, present: Option<Rule>) -> Result<(), PageError> {
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
        self.present = present.map(|rule| truncate(&yaml(rule), PRESENT_CHARS));
        Ok(())
    }
}

/// The page.
pub(super) async fn form(request: &PageRequest, caller: &Caller, shown: Shown) -> Answer {
    let lists = if shown.typed.kind == RuleType::ImageHash {
        Lists::of(request, caller).await?
    } else {
        Lists::default()
    };
    let (frame, head) = page_header::open_to_edit(request, caller, Tab::Rules).await?;
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
