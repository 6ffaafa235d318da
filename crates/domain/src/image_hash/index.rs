//! The hashes of one list in memory, so that looking up a picture takes microseconds:
//! [`HashIndex`].

mod multi_index;
mod nearest;

use std::collections::BTreeSet;

use uuid::Uuid;

use self::nearest::Near;
use super::{HashAlgorithm, Hashed, ImageHash, MAX_DISTANCE, Sha256Digest};
use crate::id::HashEntryId;

/// The hashes of a list, each under the id of its entry.
///
/// Lookups are exact: every hash within the distance is found. Which entry is returned depends only
/// on the entries, not on the order in which they came. A list of a million takes about 150 bytes
/// for each PDQ, and about 75 for each SHA-256.
#[derive(Clone, Debug, Default)]
pub struct HashIndex {
    files: BTreeSet<(Sha256Digest, HashEntryId)>,
    looks: Near,
}

/// The entry that a picture matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its id.
    pub entry: HashEntryId,
    /// What kind of hash it is.
    pub algorithm: HashAlgorithm,
    /// The number of bits in which picture and entry differ.
    pub distance: u32,
}

impl HashIndex {
    /// The nearest entry within a distance from 0 to [`MAX_DISTANCE`]. The same file comes before a
    /// picture that looks the same. If several entries are equally near, the one with the least id
    /// is returned. A longer distance counts as [`MAX_DISTANCE`].
    pub fn find(&self, picture: &Hashed, max_distance: u32) -> Option<Found> {
        let file = self.file(&picture.sha256).map(|entry| Found {
            entry,
            algorithm: HashAlgorithm::Sha256,
            distance: 0,
        });
        file.or_else(|| {
            let max_distance = max_distance.min(MAX_DISTANCE);
            let (distance, entry) = self.looks.nearest(&picture.pdq?, max_distance)?;
            Some(Found {
                entry,
                algorithm: HashAlgorithm::Pdq,
                distance,
            })
        })
    }

    fn file(&self, digest: &Sha256Digest) -> Option<HashEntryId> {
        let least = (*digest, HashEntryId::from_uuid(Uuid::nil()));
        let (found, entry) = self.files.range(least..).next()?;
        (found == digest).then_some(*entry)
    }

    /// Adds an entry that is not in the index yet. [`Extend`] adds many entries in a fraction of
    /// the time.
    pub fn insert(&mut self, entry: HashEntryId, hash: ImageHash) {
        self.extend([(entry, hash)]);
    }

    /// Removes an entry. Returns whether there was one with this id and this hash.
    pub fn remove(&mut self, entry: HashEntryId, hash: &ImageHash) -> bool {
        match hash {
            ImageHash::Sha256(digest) => self.files.remove(&(*digest, entry)),
            ImageHash::Pdq(pdq) => self.looks.remove(entry, pdq),
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.files.len() + self.looks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory it takes, in bytes, approximately: the weight for a bounded cache.
    pub fn approx_bytes(&self) -> usize {
        // The nodes of a B-tree are two thirds full on average.
        let files = self.files.len() * size_of::<(Sha256Digest, HashEntryId)>() * 3 / 2;
        size_of::<Self>() + files + self.looks.approx_bytes()
    }
}

impl Extend<(HashEntryId, ImageHash)> for HashIndex {
    fn extend<T: IntoIterator<Item = (HashEntryId, ImageHash)>>(&mut self, entries: T) {
        let Self { files, looks } = self;
        looks.extend(entries.into_iter().filter_map(|(entry, hash)| match hash {
            ImageHash::Sha256(digest) => {
                files.insert((digest, entry));
                None
            }
            ImageHash::Pdq(pdq) => Some((entry, pdq)),
        }));
    }
}

impl FromIterator<(HashEntryId, ImageHash)> for HashIndex {
    fn from_iter<T: IntoIterator<Item = (HashEntryId, ImageHash)>>(entries: T) -> Self {
        let mut index = Self::default();
        index.extend(entries);
        index
    }
}

#[cfg(test)]
mod tests;
