//! Rule groups as documents: what is exported and imported as YAML, and how rules are given by their authors.
//!
//! YAML is read without anchors and aliases, so that a small document cannot grow into a large one, and within bounds of
//! its depth and its size.

mod given;

use serde::{Deserialize, Serialize};

pub use self::given::{GivenFile, InvalidRuleFile};
use crate::{
    id::RuleId,
    name::Name,
    rules::{Rule, RuleBody},
};

/// The longest document, in bytes. The most keywords that a group may have, at an average length, are a third of it.
pub const MAX_BYTES: usize = 4 << 20;

/// A rule group as a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleFile {
    /// What the group is called.
    pub name: Name,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Entry>,
}

/// A rule as a document, which is flat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// By which verdicts name it. A rule that is given without one gets a new one; with it, it stays the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RuleId>,
    /// The rest.
    #[serde(flatten)]
    pub body: RuleBody,
}

impl From<Rule> for Entry {
    fn from(rule: Rule) -> Self {
        Self {
            id: Some(rule.id),
            body: RuleBody {
                name: rule.name,
                enabled: rule.enabled,
                exceptions: rule.exceptions,
                kind: rule.kind,
            },
        }
    }
}

impl RuleFile {
    /// Writes the document.
    pub fn to_yaml(&self) -> String {
        serde_saphyr::to_string(self).expect("a rule group has string keys and finite numbers only")
    }
}

#[cfg(test)]
mod tests;
