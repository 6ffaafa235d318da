//! From members to a rule: which members each kind has, and what each must hold.

use uuid::Uuid;

use super::GivenRule;
use super::member::{Given, List, unknown_member};
use crate::id::HashListId;
use crate::rules::error::{Place, RuleErrors};
use crate::rules::{
    AiThreshold, ImageHash, Keyword, Link, LinkPolicy, Matching, Pattern, RuleEffect, RuleKind,
    RuleType,
};
use crate::score::Category;

/// What is said of something that is no object.
pub(super) const NO_RULE: &str =
    "must be a rule: an object with `type`, `name` and the members of that type";

/// The members of rules of every kind.
pub(super) const MEMBERS: [&str; 15] = [
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
    "lists",
    "category",
    "review_at",
    "reject_at",
    "effect",
];

const KINDS: [(&str, RuleType); 5] = [
    ("keyword", RuleType::Keyword),
    ("regex", RuleType::Regex),
    ("link", RuleType::Link),
    ("image_hash", RuleType::ImageHash),
    ("ai_threshold", RuleType::AiThreshold),
];
const EFFECTS: [(&str, RuleEffect); 2] = [
    ("reject", RuleEffect::Reject),
    ("review", RuleEffect::Review),
];
const MATCHINGS: [(&str, Matching); 2] = [
    ("whole_word", Matching::WholeWord),
    ("substring", Matching::Substring),
];
const POLICIES: [(&str, LinkPolicy); 2] =
    [("deny", LinkPolicy::Deny), ("allow", LinkPolicy::Allow)];

/// The members of a kind beside `type`, `id`, `name` and `enabled`, in the order in which they are told.
const fn members_of(kind: RuleType) -> &'static [&'static str] {
    match kind {
        RuleType::Keyword => &["exceptions", "keywords", "matching", "effect"],
        RuleType::Regex => &["exceptions", "pattern", "effect"],
        RuleType::Link => &["exceptions", "policy", "domains", "effect"],
        RuleType::ImageHash => &["lists", "effect"],
        RuleType::AiThreshold => &["category", "review_at", "reject_at"],
    }
}

/// The members of a rule as they were read.
#[derive(Default)]
pub(super) struct Members {
    given: Vec<(&'static str, Given, Option<Place>)>,
    twice: Vec<(&'static str, Option<Place>)>,
    unknown: Vec<(String, Option<Place>)>,
}

impl Members {
    pub(super) fn add(&mut self, name: &'static str, given: Given, place: Option<Place>) {
        if self.given.iter().all(|(known, ..)| *known != name) {
            self.given.push((name, given, place));
        } else if self.twice.iter().all(|(known, _)| *known != name) {
            self.twice.push((name, place));
        }
    }

    pub(super) fn add_unknown(&mut self, name: String, place: Option<Place>) {
        if self.unknown.len() <= RuleErrors::MOST {
            self.unknown.push((name, place));
        }
    }

    pub(super) fn into_rule(self, place: Option<Place>) -> GivenRule {
        let placed = |(name, _, place): &(&'static str, _, Option<Place>)| Some((*name, (*place)?));
        let mut reading = Reading {
            rule: GivenRule {
                place,
                places: self.given.iter().filter_map(placed).collect(),
                ..GivenRule::default()
            },
            given: self.given,
        };
        for (name, place) in self.twice {
            reading.rule.add_fault(name, "is given twice", place);
        }
        let kind = reading.one_of("type", &KINDS);
        reading.refuse_unknown(kind, self.unknown);
        reading.read_common();
        if let Some(kind) = kind {
            let kind = reading.read_kind(kind);
            reading.rule.kind = Some(kind);
        }
        reading.rule
    }
}

/// A rule that is being made of its members.
struct Reading {
    rule: GivenRule,
    given: Vec<(&'static str, Given, Option<Place>)>,
}

impl Reading {
    fn refuse_unknown(&mut self, kind: Option<RuleType>, unknown: Vec<(String, Option<Place>)>) {
        let (of, known) = match kind {
            Some(kind) => {
                let common = ["type", "id", "name", "enabled"].iter();
                let known: Vec<&str> = common.chain(members_of(kind)).copied().collect();
                (format!("a rule of the type `{kind}`"), known)
            }
            // Of a rule of no known kind, only what no rule has is known to be wrong.
            None => ("any rule".to_owned(), MEMBERS.to_vec()),
        };
        let message = unknown_member(&of, &known);
        for (name, place) in unknown {
            self.rule.add_fault(name, message.clone(), place);
        }
        let foreign = |(name, _, place): &(&'static str, Given, Option<Place>)| {
            // That thresholds and images have no exceptions is said better when they are checked. An empty list was always taken.
            let is_known = known.contains(name) || *name == "exceptions";
            (!is_known).then_some((*name, *place))
        };
        let foreign: Vec<_> = self.given.iter().filter_map(foreign).collect();
        for (name, place) in foreign {
            self.rule.add_fault(name, message.clone(), place);
        }
    }

    fn read_common(&mut self) {
        self.rule.id = match self.take("id") {
            None | Some(Given::Null) => None,
            Some(Given::Text(text)) => match text.parse::<Uuid>() {
                Ok(id) => Some(id.into()),
                Err(_) => self.refuse("id", "must be a UUID"),
            },
            Some(_) => self.refuse("id", "must be a UUID, as a string"),
        };
        self.rule.name = self.text("name");
        self.rule.enabled = match self.take("enabled") {
            None => true,
            Some(Given::Bool(enabled)) => enabled,
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

    fn read_kind(&mut self, kind: RuleType) -> RuleKind {
        match kind {
            RuleType::Keyword => RuleKind::Keyword(Keyword {
                keywords: self.required_texts("keywords"),
                matching: if self.has("matching") {
                    self.one_of("matching", &MATCHINGS).unwrap_or_default()
                } else {
                    Matching::default()
                },
                effect: self.effect(),
            }),
            RuleType::Regex => RuleKind::Regex(Pattern {
                pattern: self.text("pattern"),
                effect: self.effect(),
            }),
            RuleType::Link => RuleKind::Link(Link {
                policy: self
                    .one_of("policy", &POLICIES)
                    .unwrap_or(LinkPolicy::Allow),
                domains: self.required_texts("domains"),
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
                    .one_of(
                        "category",
                        &Category::ALL.map(|category| (category.as_str(), category)),
                    )
                    .unwrap_or(Category::Adult),
                review_at: self.threshold("review_at", 0.0),
                reject_at: self.threshold("reject_at", 1.0),
            }),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(known, ..)| *known == name)
    }

    fn take(&mut self, name: &str) -> Option<Given> {
        let at = self.given.iter().position(|(known, ..)| *known == name)?;
        Some(self.given.swap_remove(at).1)
    }

    fn refuse<T>(&mut self, name: &str, message: &str) -> Option<T> {
        self.rule.add_fault(name, message, None);
        None
    }

    /// A member that must be one of a few names; none, and a mistake, if it is something else or is missing.
    fn one_of<T: Copy>(&mut self, name: &'static str, allowed: &[(&str, T)]) -> Option<T> {
        let given = self.take(name);
        if let Some(Given::Text(text)) = &given
            && let Some((_, value)) = allowed.iter().find(|(known, _)| known == text)
        {
            return Some(*value);
        }
        let names: Vec<String> = allowed
            .iter()
            .map(|(known, _)| format!("`{known}`"))
            .collect();
        self.required(
            name,
            given.is_none(),
            &format!("one of {}", names.join(", ")),
        );
        None
    }

    fn effect(&mut self) -> RuleEffect {
        self.one_of("effect", &EFFECTS)
            .unwrap_or(RuleEffect::Review)
    }

    /// A member that must be a text. An empty one stands in for it.
    fn text(&mut self, name: &'static str) -> String {
        let given = self.take(name);
        if let Some(Given::Text(text)) = given {
            return text;
        }
        let expected = match &given {
            Some(Given::Bool(_) | Given::Number(_)) => "a string, in quotes",
            _ => "a string",
        };
        self.required(name, given.is_none(), expected);
        String::new()
    }

    fn required_texts(&mut self, name: &'static str) -> Vec<String> {
        if let Some(given) = self.take(name) {
            self.texts(name, given)
        } else {
            self.required(name, true, LIST);
            Vec::new()
        }
    }

    fn texts(&mut self, name: &'static str, given: Given) -> Vec<String> {
        let Given::List(List { texts, wrong }) = given else {
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

    /// The hash list at a place. Another one stands in for each wrong one, so that none stands there twice.
    fn list(&mut self, at: usize, text: &str) -> HashListId {
        let list = text.parse::<Uuid>().unwrap_or_else(|_| {
            let field = format!("lists[{at}]");
            if self.rule.faults.iter().all(|fault| fault.field != field) {
                self.rule.add_fault(field, "must be a UUID", None);
            }
            Uuid::from_u128(at as u128)
        });
        list.into()
    }

    /// A threshold, or one that stands in for a wrong one and is in nobody's way.
    fn threshold(&mut self, name: &'static str, otherwise: f64) -> Option<f64> {
        match self.take(name)? {
            Given::Null => None,
            Given::Number(number) => Some(number),
            Given::Bool(_) | Given::Text(_) | Given::List(_) | Given::Object => {
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

const LIST: &str = "a list of strings";

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn the_names_are_those_of_the_documents() {
        for (name, kind) in KINDS {
            assert_eq!(name, kind.as_str());
            assert_eq!(from_value::<RuleType>(json!(name)).unwrap(), kind);
        }
        for (name, effect) in EFFECTS {
            assert_eq!(from_value::<RuleEffect>(json!(name)).unwrap(), effect);
        }
        for (name, matching) in MATCHINGS {
            assert_eq!(from_value::<Matching>(json!(name)).unwrap(), matching);
        }
        for (name, policy) in POLICIES {
            assert_eq!(from_value::<LinkPolicy>(json!(name)).unwrap(), policy);
        }
    }
}
