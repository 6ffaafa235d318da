//! The reasons that people give for their decisions, in their own words.

use crate::text_type::{has_at_most, text_type};

text_type! {
    /// A reason: 1 to 1,000 characters, none of them NUL, and not only white space. Applications
    /// can read it.
    Reason(is_reason);

    /// The text is not a valid reason.
    InvalidReason = "must have 1 to 1000 characters, no NUL, and not only white space"
}

impl Reason {
    /// The most characters.
    pub const LONGEST: usize = 1_000;
}

fn is_reason(text: &str) -> bool {
    has_at_most(Reason::LONGEST, text) && !text.trim().is_empty() && !text.contains('\0')
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
