//! The hash of a row, and a row's place in its chain.

use std::{fmt, str::FromStr};

/// The hash of a row and of all rows before it: 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChainHash([u8; 32]);

impl ChainHash {
    /// These bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash that these bytes are. `None` if they are not 32.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChainHash({self})")
    }
}

/// The number and the hash of a row. It is written as `NUMBER:HASH`, the hash in 64 hexadecimal
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The row's place in its chain; the first row has 1.
    pub number: i64,
    /// The row's hash.
    pub hash: ChainHash,
}

impl Link {
    /// What comes before the first row of every chain.
    pub const START: Self = Self {
        number: 0,
        hash: ChainHash::new([0; 32]),
    };
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

/// A text is not a number and a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number, a colon and a hash of 64 hexadecimal digits")]
pub struct MalformedLink;

impl FromStr for ChainHash {
    type Err = MalformedLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedLink)?;
        Ok(Self(bytes))
    }
}

impl FromStr for Link {
    type Err = MalformedLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, hash) = text.split_once(':').ok_or(MalformedLink)?;
        let number = number.parse().ok().filter(|number| *number >= 0);
        Ok(Self {
            number: number.ok_or(MalformedLink)?,
            hash: hash.parse()?,
        })
    }
}
