//! The hashes of one list in memory, so that looking up a picture takes microseconds:
//! [`HashIndex`].

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, ops::Range};

use uuid::Uuid;

use super::{HashAlgorithm, Hashed, ImageHash, MAX_DISTANCE, Pdq, Sha256Digest};
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

const WORDS: usize = 16;
const VALUES: usize = 1 << 16;

/// Finds hashes that may be near another hash without comparing all of them: multi-index hashing (Norouzi, Punjani and Fleet,
/// "Fast Exact Search in Hamming Space with Multi-Index Hashing", 2014), refined so that few hashes are compared in vain.
///
/// A hash is cut into 16 words. If two hashes differ in at most 31 bits, then one of their halves differs in at most 15 bits,
/// one of that half's quarters in at most 7, one of its pairs of words in at most 3, and one of these words in at most 1. So
/// each near hash can be found under the same word or under a word that differs in one bit. The two words beside them then
/// differ in at most 3 bits, minus the bits already counted. For each word, there is a table of all hashes by that word, which
/// also contains the word beside it; without hashes, there is none. In a list of a million, a lookup in 272 places names about
/// 4,000 hashes. Comparing the second word leaves ten of them, and only these must be fetched and compared.
#[derive(Clone, Debug, Default)]
struct MultiIndex(Vec<Table>);

/// All hashes in the order of one of their words.
#[derive(Clone, Debug)]
struct Table {
    /// For each value of the word, where its hashes begin; and where the last ones end.
    starts: Vec<u32>,
    /// The word beside it, for each hash.
    besides: Vec<u16>,
    /// The place of each hash.
    places: Vec<u32>,
}

impl MultiIndex {
    /// The tables of these hashes, fewer than 2³². Takes about 0.2 µs for each hash.
    fn new(hashes: &[Pdq]) -> Self {
        Self((0..WORDS).map(|word| Table::new(hashes, word)).collect())
    }

    /// How many hashes are in the tables.
    fn len(&self) -> usize {
        self.0.first().map_or(0, |table| table.places.len())
    }

    /// How many hashes a lookup within a distance would touch.
    fn crowd(&self, hash: &Pdq, max_distance: u32) -> usize {
        self.runs(hash, max_distance)
            .map(|run| run.places.len())
            .sum()
    }

    /// Names the places of all hashes within a distance of at most 31, and of others that may be.
    /// It can name a place repeatedly.
    fn candidates(&self, hash: &Pdq, max_distance: u32, mut name: impl FnMut(usize)) {
        for Run {
            table,
            places,
            beside,
            left,
        } in self.runs(hash, max_distance)
        {
            for (at, other) in places.clone().zip(&table.besides[places]) {
                if (beside ^ other).count_ones() <= left {
                    name(table.places[at] as usize);
                }
            }
        }
    }

    fn runs(&self, hash: &Pdq, max_distance: u32) -> impl Iterator<Item = Run<'_>> {
        let (in_word, in_pair) = (max_distance / 16, max_distance / 8);
        let differing = [0].into_iter().chain((0..u16::BITS).map(|bit| 1 << bit));
        let differing = differing.take(if in_word == 0 { 1 } else { 17 });
        self.0.iter().enumerate().flat_map(move |(at, table)| {
            let (word, beside) = (word(hash, at), word(hash, at ^ 1));
            differing.clone().map(move |bits: u16| Run {
                table,
                places: table.run(word ^ bits),
                beside,
                left: in_pair - bits.count_ones(),
            })
        })
    }

    fn approx_bytes(&self) -> usize {
        let table =
            (VALUES + 1) * size_of::<u32>() + self.len() * (size_of::<u16>() + size_of::<u32>());
        self.0.len() * table
    }
}

/// The hashes that have a certain word.
struct Run<'a> {
    table: &'a Table,
    places: Range<usize>,
    /// The expected word beside it.
    beside: u16,
    /// The number of bits in which that word may differ.
    left: u32,
}

impl Table {
    /// By a counting sort, which keeps hashes with the same word in their order.
    fn new(hashes: &[Pdq], at: usize) -> Self {
        let mut starts = vec![0_u32; VALUES + 1];
        for hash in hashes {
            starts[usize::from(word(hash, at)) + 1] += 1;
        }
        for value in 1..=VALUES {
            starts[value] += starts[value - 1];
        }
        let mut next = starts.clone();
        let mut besides = vec![0; hashes.len()];
        let mut places = vec![0; hashes.len()];
        for (hash, place) in hashes.iter().zip(0..) {
            let next = &mut next[usize::from(word(hash, at))];
            besides[*next as usize] = word(hash, at ^ 1);
            places[*next as usize] = place;
            *next += 1;
        }
        Self {
            starts,
            besides,
            places,
        }
    }

    fn run(&self, word: u16) -> Range<usize> {
        let word = usize::from(word);
        self.starts[word] as usize..self.starts[word + 1] as usize
    }
}

fn word(hash: &Pdq, at: usize) -> u16 {
    let (words, _) = hash.as_bytes().as_chunks();
    u16::from_be_bytes(words[at])
}

/// This many hashes can be compared one after the other in less than 0.1 ms, and need no tables.
const FEW: usize = 16_384;
/// If the tables name more than this fraction of all hashes, because many are alike, they are not
/// used. Comparing all hashes is then faster. It also bounds the cost of a list that was made to
/// cost time.
const CROWDED: usize = 16;
/// When this fraction of all hashes is missing from the tables or was removed, the tables are built
/// again.
const LOOSE: usize = 32;

/// Hashes with the ids of their entries. The one that is nearest to another is found with [`MultiIndex`] if there are many, one
/// after the other if there are few.
#[derive(Clone, Debug)]
struct Near {
    ids: Vec<HashEntryId>,
    hashes: Vec<Pdq>,
    /// The places of removed hashes.
    removed: BTreeSet<usize>,
    /// The tables of the first hashes. Hashes behind them came later.
    words: MultiIndex,
    few: usize,
}

impl Default for Near {
    fn default() -> Self {
        Self::with_few(FEW)
    }
}

impl Near {
    fn with_few(few: usize) -> Self {
        Self {
            ids: Vec::new(),
            hashes: Vec::new(),
            removed: BTreeSet::new(),
            words: MultiIndex::default(),
            few,
        }
    }

    /// The nearest hash within a distance, and its distance. If several are equally near, the one
    /// with the least id.
    fn nearest(&self, hash: &Pdq, max_distance: u32) -> Option<(u32, HashEntryId)> {
        let mut within = max_distance;
        let mut nearest = None;
        self.candidates(hash, max_distance, |place| {
            let distance = hash.distance(&self.hashes[place]);
            if distance <= within && self.counts(place) {
                within = distance;
                let found = (distance, self.ids[place]);
                nearest = Some(nearest.map_or(found, |nearest| found.min(nearest)));
            }
        });
        nearest
    }

    /// Names the places of all hashes within a distance. It can name other places, and the same
    /// place repeatedly.
    fn candidates(&self, hash: &Pdq, max_distance: u32, mut name: impl FnMut(usize)) {
        let mut named = 0;
        if self.words.crowd(hash, max_distance) <= self.words.len() / CROWDED {
            self.words.candidates(hash, max_distance, &mut name);
            named = self.words.len();
        }
        (named..self.hashes.len()).for_each(name);
    }

    fn counts(&self, place: usize) -> bool {
        !self.removed.contains(&place)
    }

    fn extend(&mut self, entries: impl Iterator<Item = (HashEntryId, Pdq)>) {
        for (id, hash) in entries {
            self.ids.push(id);
            self.hashes.push(hash);
        }
        self.tidy();
    }

    fn remove(&mut self, id: HashEntryId, hash: &Pdq) -> bool {
        let mut place = None;
        self.candidates(hash, 0, |named| {
            if self.ids[named] == id && self.hashes[named] == *hash && self.counts(named) {
                place = Some(named);
            }
        });
        self.removed.extend(place);
        self.tidy();
        place.is_some()
    }

    /// Builds the tables again if too many hashes are missing from them or were removed.
    fn tidy(&mut self) {
        let loose = self.hashes.len() - self.words.len() + self.removed.len();
        if loose <= self.few.max(self.hashes.len() / LOOSE) {
            return;
        }
        let removed = std::mem::take(&mut self.removed);
        let is_kept = |place: usize| !removed.contains(&place);
        let mut place = 0..;
        self.ids.retain(|_| place.next().is_some_and(is_kept));
        let mut place = 0..;
        self.hashes.retain(|_| place.next().is_some_and(is_kept));
        self.words = if self.hashes.len() > self.few {
            MultiIndex::new(&self.hashes)
        } else {
            MultiIndex::default()
        };
    }

    fn len(&self) -> usize {
        self.hashes.len() - self.removed.len()
    }

    fn approx_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<HashEntryId>()
            + self.hashes.capacity() * size_of::<Pdq>()
            + self.removed.len() * size_of::<usize>() * 3 / 2
            + self.words.approx_bytes()
    }
}
