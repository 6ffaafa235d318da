//! What is typed into the form of a rule, and the rule that it means.

use domain::{
    image_hash::ListKind,
    rules::{
        AiThreshold, Bare, ImageHash, Keyword, Link, LinkPolicy, Matching, Pattern, Rule, RuleBody,
        RuleEffect, RuleKind, RuleType,
    },
    score::Category,
};
use management::FieldProblem;

use super::options::{Named as _, Reading};
use crate::{
    page::{Form, Problems, Texts},
    rules::names::Lists,
    visible_text::truncate,
};

/// The fields of the form. All but `lists` have one text.
pub(super) const FIELDS: [&str; 13] = [
    "name",
    "exceptions",
    "keywords",
    "matching",
    "pattern",
    "policy",
    "domains",
    "bare",
    "lists",
    "category",
    "review_at",
    "reject_at",
    "effect",
];

/// The most bytes of a rule that the form shows.
const MOST_BYTES: usize = 100_000;

/// What is typed. Lists have one term in each line.
pub(super) struct Typed {
    pub(super) kind: RuleType,
    pub(super) is_on: bool,
    pub(super) lists: Vec<String>,
    pub(super) texts: Texts,
}

/// Why a form cannot hold a rule.
pub(super) enum Unfit {
    TooLarge,
    /// It has texts that a browser would change, such as line breaks within a term.
    Altered,
}

/// A hash list that can be chosen.
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) is_chosen: bool,
}

impl Typed {
    /// An empty form.
    pub(super) fn fresh(kind: RuleType) -> Self {
        let texts = FIELDS.map(|field| {
            let text = match field {
                "matching" => Matching::WholeWord.name(),
                "policy" => LinkPolicy::Deny.name(),
                "bare" => Bare::default().name(),
                "category" => Category::Adult.name(),
                "effect" => RuleEffect::Review.name(),
                _ => "",
            };
            (field, text.to_owned())
        });
        Self {
            kind,
            is_on: true,
            lists: Vec::new(),
            texts: Texts::stored(texts),
        }
    }

    pub(super) fn of_form(kind: RuleType, form: &Form) -> Self {
        Self {
            kind,
            is_on: form.has("enabled"),
            lists: form.all("lists").map(str::to_owned).collect(),
            texts: Texts::stored(FIELDS.map(|field| (field, form.get(field).to_owned()))),
        }
    }

    /// The form of a rule. `Err`: the form would change the rule although nothing is typed.
    pub(super) fn of_rule(rule: &Rule) -> Result<Self, Unfit> {
        let mut typed = Self {
            is_on: rule.enabled,
            ..Self::fresh(rule.kind.rule_type())
        };
        let mut set = |field: &str, text: String| typed.texts.set(field, text);
        set("name", rule.name.clone());
        set("exceptions", rule.exceptions.join("\n"));
        match &rule.kind {
            RuleKind::Keyword(keyword) => {
                set("keywords", keyword.keywords.join("\n"));
                set("matching", keyword.matching.name().to_owned());
                set("effect", keyword.effect.name().to_owned());
            }
            RuleKind::Regex(pattern) => {
                set("pattern", pattern.pattern.clone());
                set("effect", pattern.effect.name().to_owned());
            }
            RuleKind::Link(link) => {
                set("policy", link.policy.name().to_owned());
                set("domains", link.domains.join("\n"));
                set("bare", link.bare.name().to_owned());
                set("effect", link.effect.name().to_owned());
            }
            RuleKind::ImageHash(known) => {
                set("effect", known.effect.name().to_owned());
                typed.lists = known.lists.iter().map(ToString::to_string).collect();
            }
            RuleKind::AiThreshold(threshold) => {
                let number = |at: Option<f64>| at.map(|at| at.to_string()).unwrap_or_default();
                set("category", threshold.category.to_string());
                set("review_at", number(threshold.review_at));
                set("reject_at", number(threshold.reject_at));
            }
        }
        let texts = ["exceptions", "keywords", "pattern", "domains"];
        let texts = texts.map(|field| typed.texts.get(field));
        if texts.iter().map(|text| text.len()).sum::<usize>() > MOST_BYTES {
            return Err(Unfit::TooLarge);
        }
        let is_altered = texts.iter().any(|text| text.contains('\r'))
            || typed.texts.get("name").contains(['\r', '\n'])
            || typed
                .body()
                .ok()
                .is_none_or(|body| body.into_rule(rule.id) != *rule);
        if is_altered {
            return Err(Unfit::Altered);
        }
        Ok(typed)
    }

    /// The rule that is meant.
    /// `Err`: the fields that cannot be read. Whether the rule makes sense is not for this to say.
    pub(super) fn body(&self) -> Result<RuleBody, Problems> {
        let text = |field| self.texts.get(field);
        let mut reading = Reading::of(&self.texts);
        let kind = match self.kind {
            RuleType::Keyword => RuleKind::Keyword(Keyword {
                keywords: lines(text("keywords")),
                matching: reading.one_of("matching"),
                effect: reading.one_of("effect"),
            }),
            RuleType::Regex => RuleKind::Regex(Pattern {
                pattern: text("pattern").to_owned(),
                effect: reading.one_of("effect"),
            }),
            RuleType::Link => RuleKind::Link(Link {
                policy: reading.one_of("policy"),
                domains: lines(text("domains")),
                bare: if text("bare").is_empty() {
                    Bare::default()
                } else {
                    reading.one_of("bare")
                },
                effect: reading.one_of("effect"),
            }),
            RuleType::ImageHash => RuleKind::ImageHash(ImageHash {
                lists: reading.lists(&self.lists),
                effect: reading.one_of("effect"),
            }),
            RuleType::AiThreshold => RuleKind::AiThreshold(AiThreshold {
                category: reading.one_of("category"),
                review_at: reading.threshold("review_at"),
                reject_at: reading.threshold("reject_at"),
            }),
        };
        reading.problems.into_result(RuleBody {
            name: text("name").to_owned(),
            enabled: self.is_on,
            exceptions: lines(text("exceptions")),
            kind,
        })
    }

    /// Adds to a mistake in a term of a list which term is wrong, and to one in a text at which character.
    pub(super) fn name_line(&self, problem: &mut FieldProblem) {
        let of_list = problem
            .field
            .strip_suffix(']')
            .and_then(|path| path.split_once('['));
        if let Some((list, place)) = of_list {
            let lines = match list {
                "keywords" | "exceptions" | "domains" => lines(self.texts.get(list)),
                _ => Vec::new(),
            };
            if let Some(line) = place.parse().ok().and_then(|at: usize| lines.get(at)) {
                in_line(problem, line);
            }
        }
        if let Some(position) = problem.position {
            problem.message = format!("{} (at character {})", problem.message, position + 1);
        }
    }

    /// The hash lists to choose from: first those that are chosen, in their order.
    pub(super) fn choices(&self, lists: &Lists) -> Vec<Choice> {
        let chosen = self.lists.iter().map(|id| {
            let known = lists.0.iter().find(|list| list.id.to_string() == *id);
            Choice {
                id: id.clone(),
                name: known.map_or_else(|| id.clone(), |list| list.name.clone()),
                kind: known.map_or("a list that you cannot use", |list| list_kind(list.kind)),
                is_chosen: true,
            }
        });
        let others = lists.0.iter().map(|list| Choice {
            id: list.id.to_string(),
            name: list.name.clone(),
            kind: list_kind(list.kind),
            is_chosen: false,
        });
        let others = others.filter(|list| !self.lists.contains(&list.id));
        chosen.chain(others).collect()
    }
}

/// The lines that have something, without white space at their ends.
fn lines(text: &str) -> Vec<String> {
    let lines = text.split('\n').map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

const fn list_kind(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Deny => "unwanted images",
        ListKind::Allow => "known good images",
    }
}

/// Adds to a mistake in a list which of its lines is wrong.
fn in_line(problem: &mut FieldProblem, line: &str) {
    problem.message = format!("“{}”: {}", truncate(line, 60), problem.message);
}
