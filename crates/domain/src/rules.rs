//! The rules engine: what a rule is, and what a rule group finds in content.
//!
//! A group's rules are stored and imported as documents ([`Rule`], [`RuleBody`]). Each version is
//! compiled once into a [`CompiledGroup`], which is then asked: `group.examine(&content)`. Each
//! kind of rule has a file under `rules/`.

mod ai_threshold;
mod budget;
mod compiled;
mod content_rule;
mod error;
mod image_hash;
pub(crate) mod input;
mod keyword;
mod link;
mod pattern;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::{
    ai_threshold::AiThreshold,
    budget::Limits,
    compiled::{CompiledGroup, Content},
    content_rule::MAX_EXCEPTIONS,
    error::{Place, RuleError, RuleErrors},
    image_hash::{ImageHash, MAX_IMAGE_HASHES, MAX_LISTS},
    input::{InputRules, WrongRules},
    keyword::{Keyword, MAX_KEYWORDS, MAX_TERM_CHARS, Matching},
    link::{Bare, Link, LinkPolicy, MAX_DOMAINS, MAX_LINKS},
    pattern::{MAX_GROUP_POSITIONS, MAX_PATTERN_CHARS, MAX_PATTERNS, MAX_POSITIONS, Pattern},
};
use crate::{
    id::{HashEntryId, HashListId, RuleGroupId, RuleId},
    image_hash::HashAlgorithm,
    media::named_set,
    score::Category,
};

/// The longest name of a rule, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// The most rules in a group. Each rule is checked against every text, so this number bounds the
/// time.
pub const MAX_RULES: usize = 10_000;

/// A rule of a group, as it is stored: one flat document with the kind in `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Identifies the rule in violations.
    pub id: RuleId,
    /// The name that people gave it. Violations show it to the tenant's application.
    pub name: String,
    /// A disabled rule is checked when it is defined, but never applied.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// Terms that excuse a match that lies completely inside one of them ("Scunthorpe"). Only for
    /// rules that look at texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// What it looks for.
    #[serde(flatten)]
    pub kind: RuleKind,
}

/// A rule without an id, as it is imported. The importer assigns the id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleBody {
    /// See [`Rule::name`].
    pub name: String,
    /// See [`Rule::enabled`].
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// See [`Rule::exceptions`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// See [`Rule::kind`].
    #[serde(flatten)]
    pub kind: RuleKind,
}

impl RuleBody {
    /// The rule with this body and an id.
    pub fn into_rule(self, id: RuleId) -> Rule {
        Rule {
            id,
            name: self.name,
            enabled: self.enabled,
            exceptions: self.exceptions,
            kind: self.kind,
        }
    }
}

const fn enabled() -> bool {
    true
}

/// The kinds of rules. A new kind is a variant here and a file under `rules/`. The compiler shows
/// the other places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RuleKind {
    /// Words and phrases.
    Keyword(Keyword),
    /// A regular expression.
    Regex(Pattern),
    /// Domains that a text may or may not link to.
    Link(Link),
    /// An image on a list of known images.
    ImageHash(ImageHash),
    /// A category's score reaching a threshold.
    AiThreshold(AiThreshold),
}

impl RuleKind {
    /// The kind's name.
    pub const fn rule_type(&self) -> RuleType {
        match self {
            Self::Keyword(_) => RuleType::Keyword,
            Self::Regex(_) => RuleType::Regex,
            Self::Link(_) => RuleType::Link,
            Self::ImageHash(_) => RuleType::ImageHash,
            Self::AiThreshold(_) => RuleType::AiThreshold,
        }
    }

    /// The hash lists that it names.
    pub fn hash_lists(&self) -> &[HashListId] {
        match self {
            Self::ImageHash(image_hash) => &image_hash.lists,
            Self::Keyword(_) | Self::Regex(_) | Self::Link(_) | Self::AiThreshold(_) => &[],
        }
    }
}

named_set! {
    /// The name of a kind of rule, as in `rule_violations[].rule_type`.
    RuleType {
        /// See [`RuleKind::Keyword`].
        Keyword = "keyword",
        /// See [`RuleKind::Regex`].
        Regex = "regex",
        /// See [`RuleKind::Link`].
        Link = "link",
        /// See [`RuleKind::ImageHash`].
        ImageHash = "image_hash",
        /// See [`RuleKind::AiThreshold`].
        AiThreshold = "ai_threshold",
    }
}

impl RuleType {
    /// Whether such a rule looks at the content itself, and not at the result of an analysis.
    pub const fn is_content(self) -> bool {
        match self {
            Self::Keyword | Self::Regex | Self::Link | Self::ImageHash => true,
            Self::AiThreshold => false,
        }
    }
}

named_set! {
    /// What a match of a rule means for the content.
    RuleEffect {
        /// The content is rejected.
        Reject = "reject",
        /// A person must look at it.
        Review = "review",
    }
}

/// One rule that content violates. Serialises as an element of the contract's `rule_violations`.
/// Effect and evidence are not part of that; the decision's trace contains them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    /// The rule.
    pub rule_id: RuleId,
    /// Its name when the group's version was compiled.
    pub rule_name: String,
    /// Its kind.
    pub rule_type: RuleType,
    /// What the match asks for.
    #[serde(skip)]
    pub effect: RuleEffect,
    /// For an `ai_threshold`, the score, from 0 to 1. Otherwise 1.
    pub confidence: f64,
    /// One sentence for people. Contains nothing of the content.
    pub details: String,
    /// The matched text, masked by [`crate::text::mask`]; absent if there is none to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_text: Option<String>,
    /// Where and why, for the trace.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// Why a rule matched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// A place in the text.
    Text {
        /// The group of the rule.
        group: RuleGroupId,
        /// The reading of the text on which it was found.
        view: View,
        /// The place, as bytes of the original text; both ends are character boundaries.
        span: Range<usize>,
    },
    /// A score.
    Score {
        /// The group of the rule.
        group: RuleGroupId,
        /// The category.
        category: Category,
        /// The highest score of any provider. From 0 to 1.
        score: f64,
        /// The threshold that the score reached.
        threshold: f64,
    },
    /// A hash on a list.
    Hash {
        /// The group of the rule.
        group: RuleGroupId,
        /// The list.
        list: HashListId,
        /// Its nearest entry.
        entry: HashEntryId,
        /// The kind of hash that matches.
        algorithm: HashAlgorithm,
        /// The number of bits in which image and entry differ.
        distance: u32,
    },
}

impl Evidence {
    /// The group of the rule.
    pub const fn group(&self) -> RuleGroupId {
        match self {
            Self::Text { group, .. } | Self::Score { group, .. } | Self::Hash { group, .. } => {
                *group
            }
        }
    }
}

/// A reading of the text on which something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The text as it was submitted.
    Original,
    /// Case, compatibility forms, marks, invisible characters and look-alikes folded.
    Folded,
    /// In addition, with digits for letters, spelled-out words and stretched letters undone.
    Loose,
}
