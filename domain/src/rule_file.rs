//! Rule groups as documents: what is exported and imported as YAML, and how rules are given by their authors.
//!
//! YAML is read without anchors and aliases, so that a small document cannot grow into a large one, and within bounds of
//! its depth and its size.

use serde::{Deserialize, Serialize};
use serde_saphyr::{Options, budget, options};

use crate::{
    id::RuleId,
    name::Name,
    rules::{Draft, Rule},
};

/// The longest document, in bytes. The most keywords that a group may have, at an average length, are a third of it.
pub const MAX_BYTES: usize = 4 << 20;

/// A rule group as its author writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// What the group is called.
    pub name: Name,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Entry>,
}

/// A rule as its author writes it: one flat document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// By which verdicts name it. A rule that is given without one gets a new one; with it, it stays the same rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RuleId>,
    /// The rest.
    #[serde(flatten)]
    pub draft: Draft,
}

impl Entry {
    /// The rule; `fresh` makes an id.
    pub fn into_rule(self, fresh: impl FnOnce() -> RuleId) -> Rule {
        self.draft.into_rule(self.id.unwrap_or_else(fresh))
    }
}

impl From<Rule> for Entry {
    fn from(rule: Rule) -> Self {
        Self {
            id: Some(rule.id),
            draft: Draft {
                name: rule.name,
                enabled: rule.enabled,
                exceptions: rule.exceptions,
                kind: rule.kind,
            },
        }
    }
}

/// The text is no rule group: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRuleFile(String);

impl RuleFile {
    /// Reads a document. Whether its rules can be compiled is not its business.
    ///
    /// # Errors
    /// The first mistake, with its line and column.
    pub fn from_yaml(yaml: &str) -> Result<Self, InvalidRuleFile> {
        if yaml.len() > MAX_BYTES {
            let message = format!("the document is larger than {MAX_BYTES} bytes");
            return Err(InvalidRuleFile(message));
        }
        serde_saphyr::from_str_with_options(yaml, reading())
            .map_err(|error| InvalidRuleFile(error.to_string()))
    }

    /// Writes the document.
    pub fn to_yaml(&self) -> String {
        serde_saphyr::to_string(self).expect("a rule group has string keys and finite numbers only")
    }
}

fn reading() -> Options {
    options! {
        budget: budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: 16,
            max_documents: 1,
            max_nodes: 500_000,
            max_events: 1_000_000,
            max_total_scalar_bytes: MAX_BYTES,
        },
        with_snippet: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(yaml: &str) -> String {
        RuleFile::from_yaml(yaml).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_back_equal_whatever_the_texts_look_like() {
        let json = serde_json::json!({ "name": "a: b # 'c'", "rules": [
            { "id": "01980f6d-11aa-7bbb-8ccc-0123456789ab", "name": "yes", "enabled": false, "type": "keyword",
              "keywords": [
                  "no", "null", "~", "1e3", "0x1F", "012", "12:30", "- a", "*x", "&x", "!x", " a", "a ", "", "a\nb\n", "a\r\nb",
                  "\t", "\u{7}", "é\u{202e}", "\u{feff}x", "\u{1f600}", "a: b", "# c", "long ".repeat(60)
              ],
              "exceptions": ["x"], "effect": "reject" },
            { "name": "1.5", "type": "regex", "pattern": r"review-\d{4} # 'q' ", "effect": "review" },
            { "name": "c", "type": "ai_threshold", "category": "adult", "review_at": 0.5, "reject_at": 1.0 },
            { "name": "d", "type": "link", "policy": "allow", "domains": [], "effect": "review" },
        ] });
        let file: RuleFile = serde_json::from_value(json).unwrap();
        let yaml = file.to_yaml();
        assert_eq!(RuleFile::from_yaml(&yaml).unwrap(), file, "{yaml}");
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_without_the_text_around_it() {
        for (yaml, place) in [
            ("name: x\nrules:\n  - {name: a, type: magic}\n", "line 3"),
            (
                "name: x\nrules:\n  - {name: a, type: regex, pattern: x, effect: reject, flags: i}\n",
                "line 3",
            ),
            ("name: x\nname: y\nrules: []\n", "line 2"),
            ("name: x\nrules: []\nsecret: 1\n", "line 3"),
            ("name: ''\nrules: []\n", "line 1"),
            ("name: [\n", "line"),
        ] {
            let message = refused(yaml);
            assert!(message.contains(place), "{yaml:?}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn nothing_grows_and_nothing_is_deep() {
        let levels = (1..30).map(|n: u8| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1));
        let bomb: String = levels.collect();
        for yaml in [
            format!("a0: &a0 [x, x]\n{bomb}name: x\nrules: []\n"),
            "name: x\nrules: &r []\n".to_owned(),
            format!("name: x\nrules: {}\n", "[".repeat(100_000)),
            format!("name: x\nrules: [{}]\n", "{}, ".repeat(600_000)),
            format!("name: x\nrules: []\n# {}", "x".repeat(MAX_BYTES)),
            "name: x\nrules: []\n---\nname: y\nrules: []\n".to_owned(),
        ] {
            refused(&yaml);
        }
    }
}
