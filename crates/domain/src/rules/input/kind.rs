//! From members to a rule: the members of each kind, and what each must hold.

use super::build::Reading;
use super::member::{InputValue, unknown_member};
use crate::rules::error::Place;
use crate::rules::{
    AiThreshold, Bare, ImageHash, Keyword, Link, LinkPolicy, Matching, Pattern, RuleEffect,
    RuleKind, RuleType,
};
use crate::score::Category;

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

pub(super) const KINDS: [(&str, RuleType); 5] = [
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

const BARES: [(&str, Bare); 3] = [
    ("likely", Bare::Likely),
    ("any", Bare::Any),
    ("none", Bare::None),
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
    pub(super) fn refuse_unknown(
        &mut self,
        kind: Option<RuleType>,
        unknown: Vec<(String, Option<Place>)>,
    ) {
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

    pub(super) fn read_kind(&mut self, kind: RuleType) -> RuleKind {
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
                bare: if self.has("bare") {
                    self.one_of("bare", &BARES).unwrap_or_default()
                } else {
                    Bare::default()
                },
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

    fn effect(&mut self) -> RuleEffect {
        self.one_of("effect", &EFFECTS)
            .unwrap_or(RuleEffect::Review)
    }
}

#[cfg(test)]
mod tests;
