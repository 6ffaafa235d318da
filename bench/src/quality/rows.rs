//! The labelled texts, line by line.

use std::{
    fmt,
    io::{BufRead, Read as _},
    str::FromStr as _,
};

use anyhow::{Context as _, anyhow, bail};
use domain::score::Category;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

/// A row as it should be, for errors.
pub(super) const EXAMPLE: &str =
    r#"{"text": "…", "labels": {"harassment": true, "spam": false}, "language": "en"}"#;

/// The longest line in bytes. Gatehouse accepts texts of 100 KB, and JSON can need six bytes for one of them.
const LONGEST_LINE: usize = 1024 * 1024;

/// The longest language tag.
const LONGEST_LANGUAGE: usize = 35;

/// A labelled text. Other members of the object are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) text: String,
    pub(super) labels: Labels,
    #[serde(default)]
    pub(super) language: Option<Language>,
}

/// Which categories are true of a text, which are not, and which are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels([Option<bool>; Category::ALL.len()]);

impl Labels {
    /// The label of a category, if it is known.
    pub(super) const fn get(self, category: Category) -> Option<bool> {
        self.0[category as usize]
    }

    /// Whether any category is true, if at least one is known.
    pub(super) fn any(self) -> Option<bool> {
        self.0
            .into_iter()
            .flatten()
            .reduce(|one, other| one || other)
    }
}

/// A language tag, such as `en` or `pt-br`, in small letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Language(String);

impl TryFrom<String> for Language {
    type Error = &'static str;

    fn try_from(tag: String) -> Result<Self, Self::Error> {
        let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if tag.is_empty() || tag.len() > LONGEST_LANGUAGE || !tag.chars().all(is_tag) {
            return Err(
                "`language` must be a tag such as `en` or `pt-BR`; omit it if it is unknown",
            );
        }
        Ok(Self(tag.to_ascii_lowercase()))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads rows. Empty lines are skipped. An error names the line, and is the last item that is worth anything.
pub(super) struct Rows<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Rows<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
        }
    }

    /// Reads the next line. Returns whether there is one.
    fn read(&mut self) -> anyhow::Result<bool> {
        self.line.clear();
        self.number += 1;
        let longest = LONGEST_LINE as u64 + 1;
        let mut input = self.input.by_ref().take(longest);
        let read = input.read_until(b'\n', &mut self.line)?;
        if self.line.len() > LONGEST_LINE {
            bail!(
                "the line is longer than {LONGEST_LINE} bytes; write each row on its own line, and cut texts to the 100 KB that Gatehouse accepts"
            );
        }
        Ok(read > 0)
    }

    fn parse(&self) -> anyhow::Result<Option<Row>> {
        let line = std::str::from_utf8(&self.line).map_err(|_| {
            anyhow!("the line is not UTF-8; convert the file, such as with `iconv --to-code UTF-8`")
        })?;
        // Some editors put the mark before the first line.
        let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim();
        if line.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(line).map(Some).map_err(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let what = error.to_string();
            let what = what.strip_suffix(&place).unwrap_or(&what);
            anyhow!(
                "column {}: {what}; a row looks like {EXAMPLE}",
                error.column()
            )
        })
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = anyhow::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.read() {
                Ok(false) => return None,
                Ok(true) => self.parse(),
                Err(error) => Err(error),
            };
            match row.with_context(|| format!("line {}", self.number)) {
                Ok(None) => {}
                Ok(Some(row)) => return Some(Ok(row)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByCategory;

        impl<'de> Visitor<'de> for ByCategory {
            type Value = Labels;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "`labels` as an object of category names with true, false or null, or as an array of the names that are true",
                )
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
                let mut labels = Labels::default();
                let mut seen = [false; Category::ALL.len()];
                while let Some(name) = map.next_key::<String>()? {
                    let category = named::<A::Error>(&name)?;
                    if std::mem::replace(&mut seen[category as usize], true) {
                        return Err(A::Error::custom(format!("`{category}` is given twice")));
                    }
                    labels.0[category as usize] = map.next_value()?;
                }
                Ok(labels)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Labels, A::Error> {
                let mut labels = Labels([Some(false); Category::ALL.len()]);
                while let Some(name) = names.next_element::<String>()? {
                    labels.0[named::<A::Error>(&name)? as usize] = Some(true);
                }
                Ok(labels)
            }
        }

        deserializer.deserialize_any(ByCategory)
    }
}

/// The category of a name.
fn named<E: serde::de::Error>(name: &str) -> Result<Category, E> {
    Category::from_str(name).map_err(|_| {
        let names = Category::ALL.map(Category::as_str).join(", ");
        E::custom(format!("unknown category `{name}`; use {names}"))
    })
}
