//! The two kinds of hashes, 32 bytes each.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The text is not a hash: it does not have 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 64 hexadecimal digits")]
pub struct MalformedHash;

macro_rules! hashes {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The 32 bytes as they are stored, in the order in which they are written.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl From<[u8; 32]> for $name {
            fn from(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }
        }

        impl FromStr for $name {
            type Err = MalformedHash;

            /// Accepts upper and lower case.
            fn from_str(text: &str) -> Result<Self, MalformedHash> {
                let mut bytes = [0; 32];
                hex::decode_to_slice(text, &mut bytes).map_err(|_| MalformedHash)?;
                Ok(Self(bytes))
            }
        }

        /// As 64 hexadecimal digits in lower case.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

hashes! {
    /// What a picture looks like, in 256 bits.
    Pdq,
    /// The SHA-256 of a file.
    Sha256Digest,
}

impl Pdq {
    /// The number of differing bits, out of 256.
    pub fn distance(&self, other: &Self) -> u32 {
        let differing = |(a, b): (&[u8; 8], &[u8; 8])| {
            (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)).count_ones()
        };
        let [(a, _), (b, _)] = [&self.0, &other.0].map(|bytes| bytes.as_chunks());
        a.iter().zip(b).map(differing).sum()
    }
}

impl Sha256Digest {
    /// The digest of a file's bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}
