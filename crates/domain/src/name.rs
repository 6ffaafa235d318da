//! Names that people give: of teams, plans, sites and tokens.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A name: 1 to 100 characters, none of them a control character, the first and last not white
/// space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The most characters.
    pub const LONGEST: usize = 100;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Stands in when a document has no valid name.
    pub(crate) fn nameless() -> Self {
        Self("?".to_owned())
    }
}

/// The text is not a valid name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 100 characters, no control characters, and no white space at its ends")]
pub struct InvalidName;

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let length = text.chars().take(Self::LONGEST + 1).count();
        let printable = !text.chars().any(char::is_control);
        if (1..=Self::LONGEST).contains(&length) && printable && text.trim() == text {
            Ok(Self(text))
        } else {
            Err(InvalidName)
        }
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.to_owned().try_into()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_printable() {
        let longest = "ü".repeat(Name::LONGEST);
        for text in ["a", "Größe 2 / *'\"<>", "日本語", longest.as_str()] {
            assert_eq!(text.parse::<Name>().unwrap().as_str(), text);
        }
        let longer = "a".repeat(Name::LONGEST + 1);
        for text in ["", " ", " a", "a\u{a0}", "a\nb", "a\0", "\u{85}a", &longer] {
            assert_eq!(text.parse::<Name>(), Err(InvalidName), "{text:?}");
        }
    }
}
