//! The reasons that people give for their decisions, in their own words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A reason: 1 to 1,000 characters, none of them NUL, and not only white space. Applications can
/// read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reason(String);

impl Reason {
    /// The most characters.
    pub const LONGEST: usize = 1_000;

    /// The reason.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 1000 characters, no NUL, and not only white space")]
pub struct InvalidReason;

impl TryFrom<String> for Reason {
    type Error = InvalidReason;

    fn try_from(text: String) -> Result<Self, InvalidReason> {
        let short = text.chars().take(Self::LONGEST + 1).count() <= Self::LONGEST;
        if short && !text.trim().is_empty() && !text.contains('\0') {
            Ok(Self(text))
        } else {
            Err(InvalidReason)
        }
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_says_something_and_not_too_much() {
        let longest = "ü".repeat(Reason::LONGEST);
        for text in ["a", "Two\nlines. ", longest.as_str()] {
            assert_eq!(Reason::try_from(text.to_owned()).unwrap().as_str(), text);
        }
        let longer = "a".repeat(Reason::LONGEST + 1);
        for text in ["", " \n\u{3000}", "a\0", &longer] {
            assert_eq!(
                Reason::try_from(text.to_owned()),
                Err(InvalidReason),
                "{text:?}"
            );
        }
    }
}
