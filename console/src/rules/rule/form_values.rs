//! What is typed into the form of a rule, and the rule that it means.

use domain::{
    image_hash::ListKind,
    rules::{
        AiThreshold, Bare, ImageHash, Keyword, Link, Pattern, Rule, RuleBody, RuleKind, RuleType,
    },
    score::Category,
};
use management::FieldProblem;

use super::options::{Named as _, Reading};
use crate::{page::Form, rules::names::Lists, visible_text::truncate};

/// The fields of the form.
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
    pub(super) name: String,
    pub(super) is_on: bool,
    pub(super) exceptions: String,
    pub(super) keywords: String,
    pub(super) matching: String,
    pub(super) pattern: String,
    pub(super) policy: String,
    pub(super) domains: String,
    pub(super) bare: String,
    pub(super) lists: Vec<String>,
    pub(super) category: String,
    pub(super) review_at: String,
    pub(super) reject_at: String,
    pub(super) effect: String,
}

/// Why a form cannot hold a rule.
pub(super) enum Unfit {
    /// It is too large.
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
        let empty = String::new;
        Self {
            kind,
            name: empty(),
            is_on: true,
            exceptions: empty(),
            keywords: empty(),
            matching: "whole_word".to_owned(),
            pattern: empty(),
            policy: "deny".to_owned(),
            domains: empty(),
            bare: Bare::default().name().to_owned(),
            lists: Vec::new(),
            category: Category::Adult.to_string(),
            review_at: empty(),
            reject_at: empty(),
            effect: "review".to_owned(),
        }
    }

    /// What was sent.
    pub(super) fn of_form(kind: RuleType, form: &Form) -> Self {
        let text = |name: &str| form.get(name).to_owned();
        Self {
            kind,
            name: text("name"),
            is_on: form.has("enabled"),
            exceptions: text("exceptions"),
            keywords: text("keywords"),
            matching: text("matching"),
            pattern: text("pattern"),
            policy: text("policy"),
            domains: text("domains"),
            bare: text("bare"),
            lists: form.all("lists").map(str::to_owned).collect(),
            category: text("category"),
            review_at: text("review_at"),
            reject_at: text("reject_at"),
            effect: text("effect"),
        }
    }

    /// The form of a rule.
    ///
    /// # Errors
    /// The form would change the rule although nothing is typed.
    pub(super) fn of_rule(rule: &Rule) -> Result<Self, Unfit> {
        let mut typed = Self {
            name: rule.name.clone(),
            is_on: rule.enabled,
            exceptions: rule.exceptions.join("\n"),
            ..Self::fresh(rule.kind.rule_type())
        };
        match &rule.kind {
            RuleKind::Keyword(keyword) => {
                typed.keywords = keyword.keywords.join("\n");
                keyword.matching.name().clone_into(&mut typed.matching);
                keyword.effect.name().clone_into(&mut typed.effect);
            }
            RuleKind::Regex(pattern) => {
                typed.pattern.clone_from(&pattern.pattern);
                pattern.effect.name().clone_into(&mut typed.effect);
            }
            RuleKind::Link(link) => {
                link.policy.name().clone_into(&mut typed.policy);
                typed.domains = link.domains.join("\n");
                link.bare.name().clone_into(&mut typed.bare);
                link.effect.name().clone_into(&mut typed.effect);
            }
            RuleKind::ImageHash(known) => {
                typed.lists = known.lists.iter().map(ToString::to_string).collect();
                known.effect.name().clone_into(&mut typed.effect);
            }
            RuleKind::AiThreshold(threshold) => {
                let number = |at: Option<f64>| at.map(|at| at.to_string()).unwrap_or_default();
                typed.category = threshold.category.to_string();
                typed.review_at = number(threshold.review_at);
                typed.reject_at = number(threshold.reject_at);
            }
        }
        let texts = [
            &typed.exceptions,
            &typed.keywords,
            &typed.pattern,
            &typed.domains,
        ];
        if texts.iter().map(|text| text.len()).sum::<usize>() > MOST_BYTES {
            return Err(Unfit::TooLarge);
        }
        let is_altered = texts.iter().any(|text| text.contains('\r'))
            || typed.name.contains(['\r', '\n'])
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
    ///
    /// # Errors
    /// The fields that cannot be read. Whether the rule makes sense is not for this to say.
    pub(super) fn body(&self) -> Result<RuleBody, Vec<FieldProblem>> {
        let mut reading = Reading::default();
        let kind = match self.kind {
            RuleType::Keyword => RuleKind::Keyword(Keyword {
                keywords: lines(&self.keywords),
                matching: reading.one_of("matching", &self.matching),
                effect: reading.one_of("effect", &self.effect),
            }),
            RuleType::Regex => RuleKind::Regex(Pattern {
                pattern: self.pattern.clone(),
                effect: reading.one_of("effect", &self.effect),
            }),
            RuleType::Link => RuleKind::Link(Link {
                policy: reading.one_of("policy", &self.policy),
                domains: lines(&self.domains),
                bare: if self.bare.is_empty() {
                    Bare::default()
                } else {
                    reading.one_of("bare", &self.bare)
                },
                effect: reading.one_of("effect", &self.effect),
            }),
            RuleType::ImageHash => RuleKind::ImageHash(ImageHash {
                lists: reading.lists(&self.lists),
                effect: reading.one_of("effect", &self.effect),
            }),
            RuleType::AiThreshold => RuleKind::AiThreshold(AiThreshold {
                category: reading.one_of("category", &self.category),
                review_at: reading.threshold("review_at", &self.review_at),
                reject_at: reading.threshold("reject_at", &self.reject_at),
            }),
        };
        if !reading.problems.is_empty() {
            return Err(reading.problems);
        }
        Ok(RuleBody {
            name: self.name.clone(),
            enabled: self.is_on,
            exceptions: lines(&self.exceptions),
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
                "keywords" => lines(&self.keywords),
                "exceptions" => lines(&self.exceptions),
                "domains" => lines(&self.domains),
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
