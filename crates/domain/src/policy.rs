//! What a site sends to models that judge by a written policy, and how long their answers are
//! valid.

use crate::{bounded_integer::BoundedInteger, text_type::text_type};

/// For how many seconds a provider's answer to a text is reused for equal texts of the same site; a
/// week at most.
pub type AnswerCacheSeconds = BoundedInteger<1, 604_800>;

text_type! {
    /// A policy: 1 to 16,384 bytes of UTF-8, none of them NUL, and not only white space.
    Policy(is_policy);

    /// The text is not a valid policy.
    InvalidPolicy = "must have 1 to 16384 bytes, no NUL, and not only white space"
}

impl Policy {
    /// The most bytes. A policy is sent with every text.
    pub const LONGEST: usize = 16 << 10;
}

fn is_policy(text: &str) -> bool {
    text.len() <= Policy::LONGEST && !text.trim().is_empty() && !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_says_something_and_not_too_much() {
        let longest = "ü".repeat(Policy::LONGEST / 2);
        for text in ["a", "No spoilers.\nEver. ", &longest] {
            let policy = Policy::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(policy), text);
        }
        for text in ["", " \n\u{3000}", "a\0", &format!("{longest}a")] {
            let refused = Policy::try_from(text.to_owned());
            assert_eq!(refused, Err(InvalidPolicy), "{text:?}");
        }
    }
}
