//! Hashes that recognise a picture: SHA-256 for exactly the same file, PDQ for a picture that looks
//! the same.
//!
//! PDQ was published by Facebook in 2019 with a reference implementation, and is the usual format
//! of hash lists. Two pictures look the same if few of the 256 bits of their hashes differ: up to
//! [`MAX_DISTANCE`].

mod index;
mod pdq;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

pub use self::index::{Found, HashIndex};
use crate::{
    id::{HashEntryId, HashListId},
    media::named_set,
};

/// The most differing bits with which two hashes still count as the same picture: the reference's
/// recommendation.
pub const MAX_DISTANCE: u32 = 31;
/// The least quality, from 0 to 100, of a PDQ that is worth comparing. The reference discards those
/// at 49 and below. A picture of lower quality contains so little that many others look like it.
pub const MIN_QUALITY: u8 = 50;

/// The hashes that recognise a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// Of the file as it was submitted.
    pub sha256: Sha256Digest,
    /// Of the decoded picture; `None` if its quality is below [`MIN_QUALITY`].
    pub pdq: Option<Pdq>,
    /// How much there is to recognise in the picture, from 0 to 100.
    pub quality: u8,
}

impl Hashed {
    /// The hashes of a file and of its decoded picture, as [`Pdq::of_rgb`] takes it.
    ///
    /// # Panics
    /// If `rgb` does not have three bytes for each pixel.
    pub fn new(file: &[u8], rgb: &[u8], width: u32, height: u32) -> Self {
        let (pdq, quality) = Pdq::of_rgb(rgb, width, height);
        Self {
            sha256: Sha256Digest::of(file),
            pdq: (quality >= MIN_QUALITY).then_some(pdq),
            quality,
        }
    }
}

named_set! {
    /// What it means to be on a list.
    ListKind {
        /// The picture is not wanted.
        Deny = "deny",
        /// The picture is known and good, even if other lists name it.
        Allow = "allow",
    }
}

named_set! {
    /// The kind of hash that recognised a picture.
    HashAlgorithm {
        /// The file is the same, byte for byte.
        Sha256 = "sha256",
        /// It looks the same.
        Pdq = "pdq",
    }
}

/// A hash on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageHash {
    /// Of one file.
    Sha256(Sha256Digest),
    /// Of all pictures that look like it.
    Pdq(Pdq),
}

impl ImageHash {
    /// The kind of hash that it is.
    pub const fn algorithm(&self) -> HashAlgorithm {
        match self {
            Self::Sha256(_) => HashAlgorithm::Sha256,
            Self::Pdq(_) => HashAlgorithm::Pdq,
        }
    }

    /// Its 32 bytes as they are stored.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        match self {
            Self::Sha256(digest) => digest.as_bytes(),
            Self::Pdq(pdq) => pdq.as_bytes(),
        }
    }
}

/// A picture is on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashMatch {
    /// The list.
    pub list: HashListId,
    /// The kind of the list when the picture was looked up.
    pub kind: ListKind,
    /// The entry that matches; the nearest one if there are several.
    pub entry: HashEntryId,
    /// The kind of hash that the entry is.
    pub algorithm: HashAlgorithm,
    /// The number of bits in which picture and entry differ: up to [`MAX_DISTANCE`], and 0 for the
    /// same file.
    pub distance: u32,
}

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
