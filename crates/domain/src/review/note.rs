//! Notes that moderators write about items, for each other.

use serde::{Deserialize, Serialize};

/// A note: 1 to 4,000 characters, none of them NUL, and not only white space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoteText(String);

impl NoteText {
    /// The most characters.
    pub const LONGEST: usize = 4_000;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 4000 characters, no NUL, and not only white space")]
pub struct InvalidNote;

impl TryFrom<String> for NoteText {
    type Error = InvalidNote;

    fn try_from(text: String) -> Result<Self, InvalidNote> {
        let is_short = text.chars().take(Self::LONGEST + 1).count() <= Self::LONGEST;
        if is_short && !text.trim().is_empty() && !text.contains('\0') {
            Ok(Self(text))
        } else {
            Err(InvalidNote)
        }
    }
}

impl From<NoteText> for String {
    fn from(note: NoteText) -> Self {
        note.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_something_and_not_too_much() {
        let longest = "ü".repeat(NoteText::LONGEST);
        for text in ["a", "Two\nlines. ", &longest] {
            assert_eq!(NoteText::try_from(text.to_owned()).unwrap().as_str(), text);
        }
        let longer = format!("{longest}ü");
        for text in ["", " \n", "a\0", &longer] {
            assert_eq!(NoteText::try_from(text.to_owned()), Err(InvalidNote));
        }
    }
}
