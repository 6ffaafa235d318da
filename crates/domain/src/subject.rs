//! The names that a provider of single sign-on has for people.

use crate::text_type::text_type;

text_type! {
    /// A provider's name of a person: 1 to 255 bytes (`OpenID` Connect Core 1.0, section 2), none
    /// of them a control character. Postgres stores no U+0000.
    Subject(is_subject);

    /// The text is no name of a person.
    InvalidSubject = "must have 1 to 255 bytes, and no control characters"
}

impl Subject {
    /// The most bytes.
    pub const LONGEST: usize = 255;
}

fn is_subject(text: &str) -> bool {
    (1..=Subject::LONGEST).contains(&text.len()) && !text.chars().any(char::is_control)
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
