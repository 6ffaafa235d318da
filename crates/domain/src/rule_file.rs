//! Rule groups as documents: how they are exported and imported as YAML, and how authors write
//! rules.
//!
//! YAML is read without anchors and aliases, so that a small document cannot grow into a large one.
//! Its depth and size are limited, too.

mod input;

use serde::{Deserialize, Serialize};

pub use self::input::{InputFile, InvalidRuleFile};
use crate::{
    id::RuleId,
    name::Name,
    rules::{Rule, RuleBody},
};

/// The longest document, in bytes. The largest allowed number of keywords, at an average length,
/// takes a third of it.
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
    /// The id that verdicts use. A rule without an id gets a new one. A rule with an id stays the
    /// same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RuleId>,
    /// The rule itself.
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
