//! The hashes of one list in memory, so that looking up a picture takes microseconds:
//! [`HashIndex`].

mod near;
mod words;

use std::collections::BTreeSet;

use uuid::Uuid;

use self::near::Near;
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
mod tests {
    use super::*;

    fn id(number: u128) -> HashEntryId {
        Uuid::from_u128(number).into()
    }

    fn picture(file: &[u8], look: u8) -> Hashed {
        Hashed {
            sha256: Sha256Digest::of(file),
            pdq: Some([look; 32].into()),
            quality: 100,
        }
    }

    #[test]
    fn the_same_file_counts_before_what_looks_the_same() {
        let entries = [
            (id(1), ImageHash::Pdq([0; 32].into())),
            (id(4), ImageHash::Sha256(Sha256Digest::of(b"a"))),
            (id(3), ImageHash::Sha256(Sha256Digest::of(b"a"))),
        ];
        let mut index: HashIndex = entries.into_iter().collect();
        let found = |index: &HashIndex, file| {
            index
                .find(&picture(file, 0), 31)
                .map(|found| (found.entry, found.algorithm))
        };
        assert_eq!(found(&index, b"a"), Some((id(3), HashAlgorithm::Sha256)));
        assert_eq!(found(&index, b"b"), Some((id(1), HashAlgorithm::Pdq)));
        assert!(index.remove(id(3), &entries[2].1));
        assert!(!index.remove(id(3), &entries[2].1));
        assert_eq!(found(&index, b"a"), Some((id(4), HashAlgorithm::Sha256)));
        assert!(index.remove(id(4), &entries[1].1) && index.remove(id(1), &entries[0].1));
        assert_eq!(found(&index, b"a"), None);
        assert!(index.is_empty());
    }

    #[test]
    fn a_picture_without_quality_is_found_by_its_file_only() {
        let index: HashIndex = [(id(1), ImageHash::Pdq([0; 32].into()))]
            .into_iter()
            .collect();
        let plain = Hashed {
            pdq: None,
            ..picture(b"a", 0)
        };
        assert_eq!(index.find(&plain, 31), None);
    }

    #[test]
    fn no_distance_reaches_farther_than_the_reference_s() {
        let mut far = [0; 32];
        far[..4].fill(0xff);
        let index: HashIndex = [(id(1), ImageHash::Pdq(far.into()))].into_iter().collect();
        assert_eq!(index.find(&picture(b"a", 0), 256), None);
    }
}
