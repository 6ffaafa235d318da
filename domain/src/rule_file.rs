//! Rule groups as documents: what is exported and imported as YAML, and how rules are given by their authors.
//!
//! YAML is read without anchors and aliases, so that a small document cannot grow into a large one, and within bounds of
//! its depth and its size.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_saphyr::{Options, budget, options};

use crate::{
    id::RuleId,
    name::Name,
    rules::{
        GivenRules, Place, Rule, RuleBody, RuleErrors,
        given::{Given, InYaml, Member, Placing, RulesReader, Unplaced, unknown_member},
    },
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

/// A rule group as its author writes it, right or wrong.
#[derive(Debug)]
pub struct GivenFile {
    /// What the group is called. Where that is wrong, something else stands here, and `rules` has the mistake.
    pub name: Name,
    /// Its rules, in the order of evaluation, with the mistakes of the whole document.
    pub rules: GivenRules,
}

/// The text is no document: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRuleFile(String);

impl GivenFile {
    /// Reads a document in YAML. What is wrong with its members is told by [`GivenRules::into_rules`].
    ///
    /// # Errors
    /// The file is not YAML, or it is too large: the first mistake, with its line and column.
    pub fn from_yaml(yaml: &str) -> Result<Self, InvalidRuleFile> {
        if yaml.len() > MAX_BYTES {
            let message = format!("the document is larger than {MAX_BYTES} bytes");
            return Err(InvalidRuleFile(message));
        }
        serde_saphyr::from_str_with_options(yaml, reading())
            .map(|FileReader::<InYaml>(file, _)| file)
            .map_err(|error| InvalidRuleFile(error.to_string()))
    }
}

impl<'de> Deserialize<'de> for GivenFile {
    /// Fails only if the text is not JSON, or not an object.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FileReader::<Unplaced>::deserialize(deserializer).map(|FileReader(file, _)| file)
    }
}

/// Reads a document from a text that tells places as `P` does.
struct FileReader<P>(GivenFile, PhantomData<fn() -> P>);

impl<'de, P: Placing> Deserialize<'de> for FileReader<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FileVisitor(PhantomData))
    }
}

struct FileVisitor<P>(PhantomData<fn() -> P>);

impl<'de, P: Placing> Visitor<'de> for FileVisitor<P> {
    type Value = FileReader<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule group: `name` and `rules`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<FileReader<P>, A::Error> {
        let (mut name, mut rules) = (None, None);
        let mut faults: Vec<(String, String, Option<Place>)> = Vec::new();
        let mut add = |field: &str, message: String, place| {
            if faults.len() <= RuleErrors::MOST {
                faults.push((field.chars().take(LONGEST_SHOWN).collect(), message, place));
            }
        };
        while let Some(member) = members.next_key::<String>()? {
            match member.as_str() {
                "name" if name.is_none() => {
                    let (read, place) = P::apart(members.next_value::<P::Of<Member<P>>>()?);
                    let given = match read.given {
                        Given::Text(text) => {
                            Name::try_from(text).map_err(|error| error.to_string())
                        }
                        Given::Bool(_) | Given::Number(_) => {
                            Err("must be a string, in quotes".to_owned())
                        }
                        Given::Null | Given::List(_) | Given::Object => {
                            Err("must be a string".to_owned())
                        }
                    };
                    name = Some(given.unwrap_or_else(|message| {
                        add("name", message, place);
                        Name::nameless()
                    }));
                }
                "rules" if rules.is_none() => {
                    let read = P::apart(members.next_value::<P::Of<RulesReader<P>>>()?);
                    rules = Some(read.0.0);
                }
                twice @ ("name" | "rules") => {
                    let (IgnoredAny, place) = P::apart(members.next_value::<P::Of<IgnoredAny>>()?);
                    add(twice, "is given twice".to_owned(), place);
                }
                unknown => {
                    let (IgnoredAny, place) = P::apart(members.next_value::<P::Of<IgnoredAny>>()?);
                    add(
                        unknown,
                        unknown_member("a rule group", &["name", "rules"]),
                        place,
                    );
                }
            }
        }
        if name.is_none() {
            add("name", "is missing".to_owned(), None);
        }
        if rules.is_none() {
            add(
                "rules",
                "is missing: it must be a list of rules".to_owned(),
                None,
            );
        }
        let mut rules = rules.unwrap_or_default();
        for (field, message, place) in faults {
            rules.add_fault(&field, message, place);
        }
        let name = name.unwrap_or_else(Name::nameless);
        Ok(FileReader(GivenFile { name, rules }, PhantomData))
    }
}

/// A member that its author made up need not come back whole.
const LONGEST_SHOWN: usize = 100;

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
        match GivenFile::from_yaml(yaml) {
            Ok(file) => {
                let wrong = file.rules.into_rules(|| uuid::Uuid::nil().into());
                wrong.unwrap_err().all_errors().to_string()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_written_is_read_back_equal_whatever_the_texts_look_like() {
        let json = serde_json::json!([
            { "id": "01980f6d-11aa-7bbb-8ccc-0123456789ab", "name": "yes", "enabled": false, "type": "keyword",
              "keywords": [
                  "no", "null", "~", "1e3", "0x1F", "012", "12:30", "- a", "*x", "&x", "!x", " a", "a ", "", "a\nb\n", "a\r\nb",
                  "\t", "\u{7}", "é\u{202e}", "\u{feff}x", "\u{1f600}", "a: b", "# c", "long ".repeat(60)
              ],
              "exceptions": ["x"], "effect": "reject" },
            { "name": "1.5", "type": "regex", "pattern": r"review-\d{4} # 'q' ", "effect": "review" },
            { "name": "c", "type": "ai_threshold", "category": "adult", "review_at": 0.5, "reject_at": 1.0 },
            { "name": "d", "type": "link", "policy": "allow", "domains": [], "effect": "review" },
        ]);
        let rules: Vec<Entry> = serde_json::from_value(json).unwrap();
        let fresh = || uuid::Uuid::max().into();
        let entries = rules.iter().cloned();
        let expected: Vec<Rule> = entries
            .map(|entry| entry.body.into_rule(entry.id.unwrap_or_else(fresh)))
            .collect();
        let name: Name = "a: b # 'c'".parse().unwrap();
        let yaml = RuleFile { name, rules }.to_yaml();
        let read = GivenFile::from_yaml(&yaml).unwrap();
        assert_eq!(read.name.as_str(), "a: b # 'c'");
        assert_eq!(read.rules.into_rules(fresh).unwrap(), expected, "{yaml}");
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
            ("name: 1.5\nrules: []\n", "in quotes (line 1"),
            (
                "name: x\nrules:\n- name: yes\n  type: regex\n  pattern: 7\n  effect: review\n",
                "in quotes (line 5",
            ),
            (
                "name: x\nrules:\n- {name: a, type: ai_threshold, category: hate, review_at: .nan}\n",
                "line 3",
            ),
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
