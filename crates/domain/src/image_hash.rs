//! Hashes that recognise a picture: SHA-256 for exactly the same file, PDQ for a picture that looks
//! the same.
//!
//! PDQ was published by Facebook in 2019 with a reference implementation, and is the usual format
//! of hash lists. Two pictures look the same if few of the 256 bits of their hashes differ: up to
//! [`MAX_DISTANCE`].

mod digest;
mod index;
mod pdq;
mod prefix;

pub use digest::{MalformedHash, Pdq, Sha256Digest};
pub use index::{Found, HashIndex};
pub use prefix::{HashPrefix, InvalidPrefix};
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests;
