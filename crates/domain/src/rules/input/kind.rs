//! Makes a rule from its members: which members each kind has, and what each must hold.

#[cfg(test)]
mod tests;

use std::{fmt::Display, str::FromStr};

use uuid::Uuid;

use super::{
    InputRule,
    member::{InputValue, List, unknown_member},
};
use crate::{
    id::HashListId,
    rules::{
        AiThreshold, Bare, ImageHash, Keyword, Link, LinkPolicy, Matching, Pattern, RuleEffect,
        RuleKind, RuleType,
        error::{Place, RuleErrors},
    },
    score::Category,
};

/// The message for something that is not an object.
pub(super) const NO_RULE: &str =
    "must be a rule: an object with `type`, `name` and the members of that type";

/// The members of rules of every kind.
pub(super) const MEMBERS: [&str; 16] = [
    "type",
    "id",
    "name",
    "enabled",
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

/// The members of a kind, except `type`, `id`, `name` and `enabled`, in the order of the
/// documentation.
const fn members_of(kind: RuleType) -> &'static [&'static str] {
    match kind {
        RuleType::Keyword => &["exceptions", "keywords", "matching", "effect"],
        RuleType::Regex => &["exceptions", "pattern", "effect"],
        RuleType::Link => &["exceptions", "policy", "domains", "bare", "effect"],
        RuleType::ImageHash => &["lists", "effect"],
        RuleType::AiThreshold => &["category", "review_at", "reject_at"],
    }
}

impl Reading {
    fn refuse_unknown(&mut self, kind: Option<RuleType>, unknown: Vec<(String, Option<Place>)>) {
        let (of, known) = match kind {
            Some(kind) => {
                let common = ["type", "id", "name", "enabled"].iter();
                let known: Vec<&str> = common.chain(members_of(kind)).copied().collect();
                (format!("a rule of the type `{kind}`"), known)
            }
            // If the kind is unknown, only members that no kind has are known to be wrong.
            None => ("any rule".to_owned(), MEMBERS.to_vec()),
        };
        let message = unknown_member(&of, &known);
        for (name, place) in unknown {
            self.rule.add_fault(name, message.clone(), place);
        }
        let foreign = |(name, _, place): &(&'static str, InputValue, Option<Place>)| {
            // A later check has a better message for thresholds and images with exceptions. An
            // empty list was always accepted.
            let is_known = known.contains(name) || *name == "exceptions";
            (!is_known).then_some((*name, *place))
        };
        let foreign: Vec<_> = self.input.iter().filter_map(foreign).collect();
        for (name, place) in foreign {
            self.rule.add_fault(name, message.clone(), place);
        }
    }

    fn read_kind(&mut self, kind: RuleType) -> RuleKind {
        match kind {
            RuleType::Keyword => RuleKind::Keyword(Keyword {
                keywords: self.required_texts("keywords"),
                matching: self.optional("matching", Matching::ALL),
                effect: self.effect(),
            }),
            RuleType::Regex => RuleKind::Regex(Pattern {
                pattern: self.text("pattern"),
                effect: self.effect(),
            }),
            RuleType::Link => RuleKind::Link(Link {
                policy: self
                    .one_of("policy", LinkPolicy::ALL)
                    .unwrap_or(LinkPolicy::Allow),
                domains: self.required_texts("domains"),
                bare: self.optional("bare", Bare::ALL),
                effect: self.effect(),
            }),
            RuleType::ImageHash => {
                let texts = self.required_texts("lists");
                let lists = texts.iter().enumerate();
                RuleKind::ImageHash(ImageHash {
                    lists: lists.map(|(at, text)| self.list(at, text)).collect(),
                    effect: self.effect(),
                })
            }
            RuleType::AiThreshold => RuleKind::AiThreshold(AiThreshold {
                category: self
                    .one_of("category", &Category::ALL)
                    .unwrap_or(Category::Adult),
                review_at: self.threshold("review_at", 0.0),
                reject_at: self.threshold("reject_at", 1.0),
            }),
        }
    }

    fn effect(&mut self) -> RuleEffect {
        self.one_of("effect", RuleEffect::ALL)
            .unwrap_or(RuleEffect::Review)
    }
}

/// A rule that is being made from its members.
struct Reading {
    rule: InputRule,
    input: Vec<(&'static str, InputValue, Option<Place>)>,
}

const LIST: &str = "a list of strings";

impl Reading {
    fn read_common(&mut self) {
        self.rule.id = match self.take("id") {
            None | Some(InputValue::Null) => None,
            Some(InputValue::Text(text)) => match text.parse::<Uuid>() {
                Ok(id) => Some(id.into()),
                Err(_) => self.refuse("id", "must be a UUID"),
            },
            Some(_) => self.refuse("id", "must be a UUID, as a string"),
        };
        self.rule.name = self.text("name");
        self.rule.enabled = match self.take("enabled") {
            None => true,
            Some(InputValue::Bool(enabled)) => enabled,
            Some(_) => {
                self.rule
                    .add_fault("enabled", "must be true or false", None);
                true
            }
        };
        if let Some(exceptions) = self.take("exceptions") {
            self.rule.exceptions = self.texts("exceptions", exceptions);
        }
    }

    fn take(&mut self, name: &str) -> Option<InputValue> {
        let at = self.input.iter().position(|(known, ..)| *known == name)?;
        Some(self.input.swap_remove(at).1)
    }

    fn refuse<T>(&mut self, name: &str, message: &str) -> Option<T> {
        self.rule.add_fault(name, message, None);
        None
    }

    /// A member that must be one of a few names. `None`, and a mistake, if it is missing or
    /// something else.
    fn one_of<T: Display + FromStr>(&mut self, name: &'static str, allowed: &[T]) -> Option<T> {
        let input = self.take(name);
        if let Some(InputValue::Text(text)) = &input
            && let Ok(value) = text.parse()
        {
            return Some(value);
        }
        let names: Vec<String> = allowed.iter().map(|known| format!("`{known}`")).collect();
        self.required(
            name,
            input.is_none(),
            &format!("one of {}", names.join(", ")),
        );
        None
    }

    /// The same for a member that has a default, which stands in for a wrong one, too.
    fn optional<T: Default + Display + FromStr>(&mut self, name: &'static str, allowed: &[T]) -> T {
        if self.input.iter().all(|(known, ..)| *known != name) {
            return T::default();
        }
        self.one_of(name, allowed).unwrap_or_default()
    }

    /// A member that must be a text. If it is not, an empty text stands in for it.
    fn text(&mut self, name: &'static str) -> String {
        let input = self.take(name);
        if let Some(InputValue::Text(text)) = input {
            return text;
        }
        let expected = match &input {
            Some(InputValue::Bool(_) | InputValue::Number(_)) => "a string, in quotes",
            _ => "a string",
        };
        self.required(name, input.is_none(), expected);
        String::new()
    }

    fn required_texts(&mut self, name: &'static str) -> Vec<String> {
        if let Some(input) = self.take(name) {
            self.texts(name, input)
        } else {
            self.required(name, true, LIST);
            Vec::new()
        }
    }

    fn texts(&mut self, name: &'static str, input: InputValue) -> Vec<String> {
        let InputValue::List(List { texts, wrong }) = input else {
            self.required(name, false, LIST);
            return Vec::new();
        };
        for (at, place) in wrong {
            self.rule.add_fault(
                format!("{name}[{at}]"),
                "must be a string, in quotes",
                place,
            );
        }
        texts
    }

    /// The hash list at a place. Each wrong one is replaced by a different id, so that none is
    /// listed twice.
    fn list(&mut self, at: usize, text: &str) -> HashListId {
        let list = text.parse::<Uuid>().unwrap_or_else(|_| {
            let field = format!("lists[{at}]");
            if self.rule.errors.iter().all(|fault| fault.field != field) {
                self.rule.add_fault(field, "must be a UUID", None);
            }
            Uuid::from_u128(at as u128)
        });
        list.into()
    }

    /// A threshold. A wrong one is replaced by a value that causes no other mistake.
    fn threshold(&mut self, name: &'static str, otherwise: f64) -> Option<f64> {
        match self.take(name)? {
            InputValue::Null => None,
            InputValue::Number(number) => Some(number),
            InputValue::Bool(_)
            | InputValue::Text(_)
            | InputValue::List(_)
            | InputValue::Object => {
                self.rule
                    .add_fault(name, "must be a number from 0 to 1", None);
                Some(otherwise)
            }
        }
    }

    fn required(&mut self, name: &'static str, is_missing: bool, expected: &str) {
        let message = if is_missing {
            format!("is missing: it must be {expected}")
        } else {
            format!("must be {expected}")
        };
        self.rule.add_fault(name, message, None);
    }
}

/// The members of a rule as they were read.
#[derive(Default)]
pub(super) struct Members {
    input: Vec<(&'static str, InputValue, Option<Place>)>,
    twice: Vec<(&'static str, Option<Place>)>,
    unknown: Vec<(String, Option<Place>)>,
}

impl Members {
    pub(super) fn add(&mut self, name: &'static str, input: InputValue, place: Option<Place>) {
        if self.input.iter().all(|(known, ..)| *known != name) {
            self.input.push((name, input, place));
        } else if self.twice.iter().all(|(known, _)| *known != name) {
            self.twice.push((name, place));
        }
    }

    pub(super) fn add_unknown(&mut self, name: String, place: Option<Place>) {
        if self.unknown.len() <= RuleErrors::MOST {
            self.unknown.push((name, place));
        }
    }

    pub(super) fn into_rule(self, place: Option<Place>) -> InputRule {
        let placed = |(name, _, place): &(&'static str, _, Option<Place>)| Some((*name, (*place)?));
        let mut reading = Reading {
            rule: InputRule {
                place,
                places: self.input.iter().filter_map(placed).collect(),
                ..InputRule::default()
            },
            input: self.input,
        };
        for (name, place) in self.twice {
            reading.rule.add_fault(name, "is given twice", place);
        }
        let kind = reading.one_of("type", RuleType::ALL);
        reading.refuse_unknown(kind, self.unknown);
        reading.read_common();
        if let Some(kind) = kind {
            let kind = reading.read_kind(kind);
            reading.rule.kind = Some(kind);
        }
        reading.rule
    }
}
