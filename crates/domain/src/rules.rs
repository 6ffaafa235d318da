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
mod error_list;
mod image_hash;
pub(crate) mod input;
mod keyword;
mod link;
mod pattern;
mod rule_type;
mod violation;

pub use ai_threshold::AiThreshold;
pub use budget::Limits;
pub use compiled::{CompiledGroup, Content};
pub use content_rule::MAX_EXCEPTIONS;
pub use error::{Place, RuleError, RuleErrors};
pub use image_hash::{ImageHash, MAX_IMAGE_HASHES, MAX_LISTS};
pub use input::{InputRules, WrongRules};
pub use keyword::{Keyword, MAX_KEYWORDS, MAX_TERM_CHARS, Matching};
pub use link::{Bare, Link, LinkPolicy, MAX_DOMAINS, MAX_LINKS};
pub use pattern::{MAX_GROUP_POSITIONS, MAX_PATTERN_CHARS, MAX_PATTERNS, MAX_POSITIONS, Pattern};
pub use rule_type::RuleType;
pub use violation::{Evidence, RuleEffect, View, Violation};

use serde::{Deserialize, Serialize};

use crate::id::{HashListId, RuleId};

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

#[cfg(test)]
mod tests;
