//! Passwords that people choose. The rules follow OWASP ASVS 5: a length, no rules of composition,
//! and nothing that is among the first guesses.

use std::fmt;

use passwords::analyzer::is_common_password;
use unicode_normalization::UnicodeNormalization as _;

use crate::email::Email;

/// The fewest different characters of a password, whatever its length.
const FEWEST_DIFFERENT: usize = 5;
/// The fewest letters of a common word that makes a password common in spite of the digits and
/// symbols around it. The list has single letters, too.
const SHORTEST_WORD: usize = 5;

/// A password as a person typed it, to be compared with a stored one. It is never printed.
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

    /// A password as it was typed; none if it is too long to be a password.
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
    /// Judges a password that a person with this e-mail address wants.
    ///
    /// # Errors
    /// Why it cannot be chosen.
    pub fn choose(text: &str, email: &Email) -> Result<Self, WeakPassword> {
        let password = Password::typed(text).ok_or(WeakPassword::Long)?;
        // A single typed character can stand for 18, such as U+FDFA.
        let length = text.chars().count().min(password.0.chars().count());
        if length < Password::SHORTEST {
            return Err(WeakPassword::Short);
        }
        let lower = password.0.to_lowercase();
        if is_common_password(&password.0) || is_common(&lower) {
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

/// Whether a password in lower case is among the first guesses: a common password, a common word
/// between digits and symbols, a repetition of one of these, a run such as `123456789012`, or very
/// few different characters.
fn is_common(lower: &str) -> bool {
    let characters: Vec<char> = lower.chars().collect();
    let mut different = characters.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < FEWEST_DIFFERENT || is_run(&characters) {
        return true;
    }
    let unit = repeated(&characters);
    if unit.len() < characters.len() && unit.len() < FEWEST_DIFFERENT {
        return true;
    }
    let word = lower.trim_matches(|c: char| !c.is_alphabetic());
    let word: Vec<char> = word.chars().collect();
    let words = [word.as_slice(), repeated(&word)];
    let words = words.into_iter().filter(|word| word.len() >= SHORTEST_WORD);
    [characters.as_slice(), unit]
        .into_iter()
        .chain(words)
        .any(|text| is_common_password(text.iter().collect::<String>()))
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

/// The shortest beginning whose repetition is the text. Without a repetition, this is the whole
/// text.
fn repeated(text: &[char]) -> &[char] {
    let length = (1..=text.len() / 2).find(|length| {
        text.len().is_multiple_of(*length)
            && text.chunks(*length).all(|chunk| chunk == &text[..*length])
    });
    &text[..length.unwrap_or(text.len())]
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
            // A letter is on the list of common passwords, too.
            "7391048265a7391",
            &"correct horse battery ".repeat(3),
            &"äbcdé".repeat(51),
        ] {
            assert_eq!(judge(text), Ok(()), "{text:?}");
        }
        assert_eq!(judge(&"x1y2z".repeat(52)), Err(WeakPassword::Long));
        // One character is not 18, and 12 combining ones are not 12.
        assert_eq!(judge("\u{fdfa}"), Err(WeakPassword::Short));
        assert_eq!(judge(&"e\u{301}".repeat(6)), Err(WeakPassword::Short));
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
            "!QAZ1qaz!QAZ1qaz",
            "trustno1trustno1",
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
    fn a_password_is_never_printed() {
        let text = format!("{:?}", Password::typed("kelp otter violin"));
        assert!(!text.contains("kelp"));
    }
}
