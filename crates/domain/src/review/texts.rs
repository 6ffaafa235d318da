//! What people write: notes about items, and the policies that a team rejects items for.

use crate::text_type::{has_at_most, text_type};

text_type! {
    /// A moderator's note about an item, for other moderators: 1 to 4,000 characters, none of them
    /// NUL, and not only white space.
    NoteText(is_note);

    /// The text is not a valid note.
    InvalidNote = "must have 1 to 4000 characters, no NUL, and not only white space"
}

impl NoteText {
    /// The most characters.
    pub const LONGEST: usize = 4_000;
}

fn is_note(text: &str) -> bool {
    has_at_most(NoteText::LONGEST, text) && !text.trim().is_empty() && !text.contains('\0')
}

text_type! {
    /// What programs and reports call a policy: 1 to 64 of the characters a to z, 0 to 9, `_`, `-`
    /// and `.`; the first is a letter.
    PolicyCode(is_policy_code);

    /// The text is not a valid code.
    InvalidPolicyCode =
        "must have 1 to 64 of the characters a to z, 0 to 9, _, - and ., the first a letter"
}

impl PolicyCode {
    /// The most characters.
    pub const LONGEST: usize = 64;
}

fn is_policy_code(text: &str) -> bool {
    let may_follow =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.len() <= PolicyCode::LONGEST
        && text.bytes().all(may_follow)
}

text_type! {
    /// What moderators read about a policy: at most 10,000 characters, none of them NUL.
    #[derive(Default)]
    Guideline(is_guideline);

    /// The text is not a valid guideline.
    InvalidGuideline = "must have at most 10000 characters, none of them NUL"
}

impl Guideline {
    /// The most characters.
    pub const LONGEST: usize = 10_000;
}

fn is_guideline(text: &str) -> bool {
    has_at_most(Guideline::LONGEST, text) && !text.contains('\0')
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

    #[test]
    fn a_code_is_short_and_plain() {
        let longest = format!("a{}", "0".repeat(PolicyCode::LONGEST - 1));
        for text in ["a", "spam", "hate_speech-1.b", &longest] {
            let code = PolicyCode::try_from(text.to_owned()).unwrap();
            assert_eq!(code.as_str(), text);
        }
        for text in [
            "",
            "1a",
            "_a",
            "Spam",
            "a b",
            "ä",
            "a\n",
            &format!("{longest}0"),
        ] {
            let refused = PolicyCode::try_from(text.to_owned());
            assert_eq!(refused, Err(InvalidPolicyCode), "{text:?}");
        }
    }

    #[test]
    fn a_guideline_may_be_empty_but_not_endless() {
        let longest = "ü".repeat(Guideline::LONGEST);
        for text in ["", "Two\nlines.", &longest] {
            let guideline = Guideline::try_from(text.to_owned()).unwrap();
            assert_eq!(guideline.as_str(), text);
        }
        for text in ["a\0", &format!("{longest}ü")] {
            assert_eq!(Guideline::try_from(text.to_owned()), Err(InvalidGuideline));
        }
    }
}
