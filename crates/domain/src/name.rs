//! Names that people give: of teams, plans, sites and tokens.

use crate::text_type::{has_at_most, text_type};

text_type! {
    /// A name: 1 to 100 characters, none of them a control character, the first and last not white
    /// space.
    Name(is_name);

    /// The text is not a valid name.
    InvalidName =
        "must have 1 to 100 characters, no control characters, and no white space at its ends"
}

impl Name {
    /// The most characters.
    pub const LONGEST: usize = 100;

    /// Stands in when a document has no valid name.
    pub(crate) fn nameless() -> Self {
        Self("?".to_owned())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && has_at_most(Name::LONGEST, text)
        && !text.chars().any(char::is_control)
        && text.trim() == text
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
