//! What a rule found: the violation, and the evidence for it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::RuleType;
use crate::id::{HashEntryId, HashListId, RuleGroupId, RuleId};
use crate::image_hash::HashAlgorithm;
use crate::score::Category;

/// What a match of a rule means for the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// The content is rejected.
    Reject,
    /// A person must look at it.
    Review,
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
