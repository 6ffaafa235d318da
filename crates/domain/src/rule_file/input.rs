//! Reads a rule group from a document. Mistakes are recorded with their places, and reading goes
//! on.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_saphyr::{Options, budget, options};

use super::MAX_BYTES;
use crate::{
    name::Name,
    rules::{
        InputRules, Place, RuleErrors,
        input::{InYaml, InputValue, Member, Placing, RulesReader, Unplaced, unknown_member},
    },
};

/// A rule group as its author wrote it, right or wrong.
#[derive(Debug)]
pub struct InputFile {
    /// The name of the group. If it is wrong, a placeholder stands here, and `rules` has the
    /// mistake.
    pub name: Name,
    /// Its rules, in the order of evaluation, with all mistakes of the document.
    pub rules: InputRules,
}

/// The text is not a document: the place, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRuleFile(String);

impl InputFile {
    /// Reads a YAML document. [`InputRules::into_rules`] reports mistakes in its members.
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

impl<'de> Deserialize<'de> for InputFile {
    /// Fails only if the text is not JSON, or not an object.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FileReader::<Unplaced>::deserialize(deserializer).map(|FileReader(file, _)| file)
    }
}

/// Reads a document from a text whose places are known as `P` says.
struct FileReader<P>(InputFile, PhantomData<fn() -> P>);

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
        let mut errors: Vec<(String, String, Option<Place>)> = Vec::new();
        let mut add = |field: &str, message: String, place| {
            if errors.len() <= RuleErrors::MOST {
                errors.push((field.chars().take(LONGEST_SHOWN).collect(), message, place));
            }
        };
        while let Some(member) = members.next_key::<String>()? {
            match member.as_str() {
                "name" if name.is_none() => {
                    let (read, place) = P::apart(members.next_value::<P::Of<Member<P>>>()?);
                    let input = match read.input {
                        InputValue::Text(text) => {
                            Name::try_from(text).map_err(|error| error.to_string())
                        }
                        InputValue::Bool(_) | InputValue::Number(_) => {
                            Err("must be a string, in quotes".to_owned())
                        }
                        InputValue::Null | InputValue::List(_) | InputValue::Object => {
                            Err("must be a string".to_owned())
                        }
                    };
                    name = Some(input.unwrap_or_else(|message| {
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
        for (field, message, place) in errors {
            rules.add_fault(&field, message, place);
        }
        let name = name.unwrap_or_else(Name::nameless);
        Ok(FileReader(InputFile { name, rules }, PhantomData))
    }
}

/// The name of an unknown member can be long. Messages show only its beginning.
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
