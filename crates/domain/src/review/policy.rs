//! Policies: what a team's moderators reject items for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What programs and reports call a policy: 1 to 64 of the characters a to z, 0 to 9, `_`, `-` and
/// `.`; the first is a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PolicyCode(String);

impl PolicyCode {
    /// The most characters.
    pub const LONGEST: usize = 64;

    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 64 of the characters a to z, 0 to 9, _, - and ., the first a letter")]
pub struct InvalidPolicyCode;

impl TryFrom<String> for PolicyCode {
    type Error = InvalidPolicyCode;

    fn try_from(text: String) -> Result<Self, InvalidPolicyCode> {
        let may_follow =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte);
        let begins_well = text
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_lowercase());
        if begins_well && text.len() <= Self::LONGEST && text.bytes().all(may_follow) {
            Ok(Self(text))
        } else {
            Err(InvalidPolicyCode)
        }
    }
}

impl From<PolicyCode> for String {
    fn from(code: PolicyCode) -> Self {
        code.0
    }
}

impl fmt::Display for PolicyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What moderators read about a policy: at most 10,000 characters, none of them NUL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Guideline(String);

impl Guideline {
    /// The most characters.
    pub const LONGEST: usize = 10_000;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid guideline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have at most 10000 characters, none of them NUL")]
pub struct InvalidGuideline;

impl TryFrom<String> for Guideline {
    type Error = InvalidGuideline;

    fn try_from(text: String) -> Result<Self, InvalidGuideline> {
        let is_short = text.chars().take(Self::LONGEST + 1).count() <= Self::LONGEST;
        if is_short && !text.contains('\0') {
            Ok(Self(text))
        } else {
            Err(InvalidGuideline)
        }
    }
}

impl From<Guideline> for String {
    fn from(guideline: Guideline) -> Self {
        guideline.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
