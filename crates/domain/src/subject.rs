//! The names that a provider of single sign-on has for people.

use std::str::FromStr;

/// A provider's name of a person: 1 to 255 bytes (`OpenID` Connect Core 1.0, section 2), none of them a control character.
/// Postgres stores no U+0000.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject(String);

impl Subject {
    /// The most bytes.
    pub const LONGEST: usize = 255;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is no name of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 255 bytes, and no control characters")]
pub struct InvalidSubject;

impl FromStr for Subject {
    type Err = InvalidSubject;

    fn from_str(text: &str) -> Result<Self, InvalidSubject> {
        let fits = (1..=Self::LONGEST).contains(&text.len());
        if fits && !text.chars().any(char::is_control) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSubject)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_short_and_printable() {
        let longest = "a".repeat(Subject::LONGEST);
        for text in ["a", " a b ", "auth0|5f7c8ec7", "größe", &longest] {
            assert_eq!(text.parse::<Subject>().unwrap().as_str(), text);
        }
        let longer = format!("{longest}a");
        for text in ["", "a\0", "\0", "a\nb", "\u{85}", &longer] {
            assert_eq!(text.parse::<Subject>(), Err(InvalidSubject), "{text:?}");
        }
    }
}
