//! The first digits of a hash, by which entries of a list are found.

use std::str::FromStr;

use super::Pdq;

/// All hashes that begin with the same digits, or one whole hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashPrefix {
    /// The first of them.
    pub from: [u8; 32],
    /// The last of them.
    pub to: [u8; 32],
}

/// The text is not the beginning of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 4 to 64 hexadecimal digits")]
pub struct InvalidPrefix;

impl FromStr for HashPrefix {
    type Err = InvalidPrefix;

    fn from_str(text: &str) -> Result<Self, InvalidPrefix> {
        if !(4..=64).contains(&text.len()) {
            return Err(InvalidPrefix);
        }
        let padded = |digit: char| {
            let mut padded = text.to_owned();
            padded.extend(std::iter::repeat_n(digit, 64 - text.len()));
            padded.parse::<Pdq>().map_err(|_| InvalidPrefix)
        };
        Ok(Self {
            from: *padded('0')?.as_bytes(),
            to: *padded('f')?.as_bytes(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_from_the_first_hash_to_the_last_one_that_begins_so() {
        let range = |text: &str| {
            let HashPrefix { from, to } = text.parse().ok()?;
            Some((Pdq::from(from).to_string(), Pdq::from(to).to_string()))
        };
        let (from, to) = range("F8f8f").unwrap();
        assert_eq!(from, format!("f8f8f{}", "0".repeat(59)));
        assert_eq!(to, format!("f8f8f{}", "f".repeat(59)));
        let whole = "ab".repeat(32);
        assert_eq!(range(&whole), Some((whole.clone(), whole.clone())));
        for text in ["", "f8f", "f8fg", "\u{e9}\u{e9}", &format!("{whole}a")] {
            assert_eq!(range(text), None, "{text:?}");
        }
    }
}
