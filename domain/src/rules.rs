//! The rules engine: what a rule is, and what a rule group finds in content.
//!
//! A group's rules are stored and imported as documents ([`Rule`], [`RuleBody`]), compiled once per version into a
//! [`CompiledGroup`], and then only asked: `group.examine(&content)`. One file per kind of rule under `rules/`.

mod ai_threshold;
mod budget;
mod compiled;
mod content;
mod error;
pub(crate) mod given;
mod image_hash;
mod keyword;
mod link;
mod pattern;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use ai_threshold::AiThreshold;
pub use budget::Limits;
pub use compiled::{CompiledGroup, Content};
pub use content::MAX_EXCEPTIONS;
pub use error::{Place, RuleError, RuleErrors};
pub use given::{GivenRules, WrongRules};
pub use image_hash::{ImageHash, MAX_IMAGE_HASHES, MAX_LISTS};
pub use keyword::{Keyword, MAX_KEYWORDS, MAX_TERM_CHARS, Matching};
pub use link::{Link, LinkPolicy, MAX_DOMAINS, MAX_LINKS};
pub use pattern::{MAX_GROUP_POSITIONS, MAX_PATTERN_CHARS, MAX_PATTERNS, MAX_POSITIONS, Pattern};

use crate::id::{HashEntryId, HashListId, RuleGroupId, RuleId};
use crate::image_hash::HashAlgorithm;
use crate::score::Category;

/// The longest name of a rule, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// The most rules in a group. Each costs a look at every text, so the number bounds the time.
pub const MAX_RULES: usize = 10_000;

/// A rule of a group, as it is stored: one flat document, in which `type` names the kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Identifies the rule in violations.
    pub id: RuleId,
    /// What people call it; shown to the tenant's application in violations.
    pub name: String,
    /// A disabled rule is checked when it is defined, and never applied.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// Terms that excuse a match which lies wholly inside one of them ("Scunthorpe"). Only for rules that look at texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// What it looks for.
    #[serde(flatten)]
    pub kind: RuleKind,
}

/// A rule without an id, as it is imported. The importer gives it one.
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
    /// The rule with this body under an id.
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

/// The kinds of rules. A new kind is a variant here and a file under `rules/`; the compiler names the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RuleKind {
    /// Words and phrases.
    Keyword(Keyword),
    /// A regular expression.
    Regex(Pattern),
    /// Domains that a text may or may not link to.
    Link(Link),
    /// An image on a list of known ones.
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

/// The name of a kind of rule, as in `rule_violations[].rule_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleType {
    /// See [`RuleKind::Keyword`].
    Keyword,
    /// See [`RuleKind::Regex`].
    Regex,
    /// See [`RuleKind::Link`].
    Link,
    /// See [`RuleKind::ImageHash`].
    ImageHash,
    /// See [`RuleKind::AiThreshold`].
    AiThreshold,
}

impl RuleType {
    /// Whether such a rule looks at the content itself, and not at what an analysis said about it.
    pub const fn is_content(self) -> bool {
        match self {
            Self::Keyword | Self::Regex | Self::Link | Self::ImageHash => true,
            Self::AiThreshold => false,
        }
    }

    /// The name in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Regex => "regex",
            Self::Link => "link",
            Self::ImageHash => "image_hash",
            Self::AiThreshold => "ai_threshold",
        }
    }
}

impl fmt::Display for RuleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a match of a rule means for the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// The content is rejected.
    Reject,
    /// A person must look at it.
    Review,
}

/// One rule that content violates. Serialises as an element of the contract's `rule_violations`; effect and
/// evidence are left out there and kept in the decision's trace.
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
    /// The score for an `ai_threshold`, 1 for rules that match or do not. From 0 to 1.
    pub confidence: f64,
    /// One sentence for people. Holds nothing of the content.
    pub details: String,
    /// The matched text, masked by [`crate::text::mask`]; absent where there is none to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_text: Option<String>,
    /// Where and why, for the trace.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// Why a rule matched.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// A place in the text.
    Text {
        /// The group whose rule it is.
        group: RuleGroupId,
        /// On which reading of the text it was found.
        view: View,
        /// The place, as bytes of the original text; both ends are character boundaries.
        span: Range<usize>,
    },
    /// A score.
    Score {
        /// The group whose rule it is.
        group: RuleGroupId,
        /// What was scored.
        category: Category,
        /// The highest that any provider gave. From 0 to 1.
        score: f64,
        /// The threshold that the score reached.
        threshold: f64,
    },
    /// A hash on a list.
    Hash {
        /// The group whose rule it is.
        group: RuleGroupId,
        /// The list.
        list: HashListId,
        /// The nearest entry of it.
        entry: HashEntryId,
        /// The kind of hash that is alike.
        algorithm: HashAlgorithm,
        /// In how many bits image and entry differ.
        distance: u32,
    },
}

/// A reading of the text on which something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The text as it was submitted.
    Original,
    /// Case, compatibility forms, marks, invisible characters and look-alikes folded.
    Folded,
    /// Besides, digits for letters, spelled-out words and stretched letters undone.
    Loose,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_one_flat_document_and_unknown_members_are_refused() {
        let body: RuleBody = serde_json::from_str(
            r#"{"name":"terms","type":"keyword","keywords":["x"],"effect":"reject"}"#,
        )
        .unwrap();
        assert!(body.enabled);
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            serde_json::json!({"name": "terms", "enabled": true, "type": "keyword",
                "keywords": ["x"], "matching": "whole_word", "effect": "reject"})
        );
        for wrong in [
            r#"{"name":"a","type":"keyword","keywords":["x"],"effect":"reject","keyword":"y"}"#,
            r#"{"name":"a","type":"regex","pattern":"x","effect":"reject","flags":"i"}"#,
            r#"{"name":"a","type":"ai_threshold","category":"hate","reject":0.5}"#,
            r#"{"name":"a","type":"ai_threshold","category":"gore","reject_at":0.5}"#,
            r#"{"name":"a","type":"keyword","keywords":["x"],"effect":"ban"}"#,
            r#"{"name":"a","type":"magic"}"#,
            r#"{"name":"a"}"#,
        ] {
            assert!(serde_json::from_str::<RuleBody>(wrong).is_err(), "{wrong}");
        }
    }
}
