//! Passwords that people choose. The rules follow OWASP ASVS 5: a length, no rules of composition, and nothing that is
//! among the first guesses.

use std::{fmt, sync::LazyLock};

use unicode_normalization::UnicodeNormalization as _;

use crate::email::Email;

/// Passwords that are refused, in lower case and sorted: those of at least 12 characters, and words that are too common
/// even with digits and symbols around them. See `docs/people.md` for how the list was made.
const COMMON: &str = include_str!("password/common.txt");
/// A password needs so many characters that differ, whatever its length.
const FEWEST_DIFFERENT: usize = 5;

/// A password as somebody typed it, to be compared with a stored one. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// A password that may be stored, as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPassword(Password);

/// Why a password cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// It has too few characters.
    #[error("must have at least {} characters", Password::SHORTEST)]
    Short,
    /// It has too many characters.
    #[error("must have at most {} characters", Password::LONGEST)]
    Long,
    /// It is among the first guesses.
    #[error("is too common: choose several words or characters that others do not use")]
    Common,
    /// It is the e-mail address, or the part before the @ of it repeated.
    #[error("must not be made of your e-mail address")]
    Email,
}

impl Password {
    /// The fewest characters.
    pub const SHORTEST: usize = 12;
    /// The most characters. More are refused rather than cut off.
    pub const LONGEST: usize = 256;

    /// A password as it was typed; none if it is longer than any password.
    pub fn typed(text: &str) -> Option<Self> {
        let length = text.chars().take(Self::LONGEST + 1).count();
        // The same characters may be typed as different code points on another keyboard.
        (length <= Self::LONGEST).then(|| Self(text.nfkc().collect()))
    }

    /// What is hashed.
    pub fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl NewPassword {
    /// Judges a password that somebody with this address wants.
    ///
    /// # Errors
    /// Why it cannot be chosen.
    pub fn choose(text: &str, email: &Email) -> Result<Self, WeakPassword> {
        let password = Password::typed(text).ok_or(WeakPassword::Long)?;
        let length = password.0.chars().count();
        if length < Password::SHORTEST {
            return Err(WeakPassword::Short);
        }
        let lower = password.0.to_lowercase();
        if is_common(&lower) {
            return Err(WeakPassword::Common);
        }
        let local = email.as_str().split('@').next().unwrap_or_default();
        let rest = lower.replace(email.as_str(), "").replace(local, "");
        if rest.chars().filter(|c| c.is_alphabetic()).count() == 0 && rest.len() < lower.len() {
            return Err(WeakPassword::Email);
        }
        Ok(Self(password))
    }

    /// What is hashed.
    pub fn password(&self) -> &Password {
        &self.0
    }
}

/// Whether a password in lower case is among the first guesses: it is a common one, a common word between digits and
/// symbols, one of these repeated, or made of very few characters.
fn is_common(lower: &str) -> bool {
    let characters: Vec<char> = lower.chars().collect();
    let mut different = characters.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < FEWEST_DIFFERENT || is_run(&characters) {
        return true;
    }
    let unit = repeated(&characters);
    let unit: String = unit.iter().collect();
    let word = lower.trim_matches(|c: char| !c.is_alphabetic());
    let repeated_word: Vec<char> = word.chars().collect();
    let repeated_word: String = repeated(&repeated_word).iter().collect();
    [lower, &unit, word, &repeated_word]
        .iter()
        .any(|text| is_listed(text))
        || unit.len() < lower.len() && unit.chars().count() < FEWEST_DIFFERENT
}

/// Whether each character follows the one before it, or each precedes it, as in `123456789012`.
fn is_run(text: &[char]) -> bool {
    let follows = |one: char, next: char| match (one, next) {
        ('9', '0') | ('z', 'a') => true,
        _ => u32::from(next) == u32::from(one) + 1,
    };
    let mut pairs = text.windows(2);
    pairs.clone().all(|pair| follows(pair[0], pair[1]))
        || pairs.all(|pair| follows(pair[1], pair[0]))
}

/// The shortest beginning of which a text is a repetition: the text itself if it is none.
fn repeated(text: &[char]) -> &[char] {
    let length = (1..=text.len() / 2).find(|length| {
        text.len().is_multiple_of(*length)
            && text.chunks(*length).all(|chunk| chunk == &text[..*length])
    });
    &text[..length.unwrap_or(text.len())]
}

fn is_listed(text: &str) -> bool {
    static LINES: LazyLock<Vec<&str>> = LazyLock::new(|| COMMON.lines().collect());
    LINES.binary_search(&text).is_ok()
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> Result<(), WeakPassword> {
        let email = "ada.lovelace@example.com".parse().unwrap();
        NewPassword::choose(text, &email).map(|_| ())
    }

    #[test]
    fn length_counts_and_composition_does_not() {
        assert_eq!(judge("kelp-otter1"), Err(WeakPassword::Short));
        for text in [
            "kelp otter violin",
            "abcdefghzyxw",
            "829104756138",
            "größenwahnsinn",
            "日本語の長い合い言葉はここ",
            &"correct horse battery ".repeat(3),
            &"äbcdé".repeat(51),
        ] {
            assert_eq!(judge(text), Ok(()), "{text:?}");
        }
        assert_eq!(judge(&"x1y2z".repeat(52)), Err(WeakPassword::Long));
    }

    #[test]
    fn the_first_guesses_are_refused() {
        for text in [
            "password1234",
            "Password2026!",
            "PasswordPassword",
            "qwertyuiop123",
            "1234567890123",
            "123456789012345",
            "09876543210987",
            "ghijklmnopqrstu",
            "iloveyou!!!!!!",
            "aaaaaaaaaaaaaaaa",
            "abababababababab",
            "zaq1xsw2cde3",
            "!!dragon-12345",
            "whosyourdaddy",
        ] {
            assert_eq!(judge(text), Err(WeakPassword::Common), "{text:?}");
        }
        for text in ["ada.lovelace2026", "Ada.Lovelace@example.com1"] {
            assert_eq!(judge(text), Err(WeakPassword::Email), "{text:?}");
        }
    }

    #[test]
    fn the_same_characters_are_the_same_password_however_they_are_encoded() {
        assert_eq!(Password::typed("cafe\u{301}"), Password::typed("caf\u{e9}"));
        assert_ne!(Password::typed("Caf\u{e9}"), Password::typed("caf\u{e9}"));
    }

    #[test]
    fn the_list_is_sorted_and_lower_case() {
        let lines: Vec<&str> = COMMON.lines().collect();
        assert!(lines.len() > 4_000);
        assert!(lines.is_sorted());
        assert!(lines.iter().all(|line| line.to_lowercase() == **line));
    }

    #[test]
    fn a_password_is_never_printed() {
        let text = format!("{:?}", Password::typed("kelp otter violin"));
        assert!(!text.contains("kelp"));
    }
}
