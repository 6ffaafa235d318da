//! Finds the PDQ that is nearest to another: with [`MultiIndex`] if there are many, one after the other
//! if there are few.

use std::collections::BTreeSet;

use super::multi_index::MultiIndex;
use crate::{id::HashEntryId, image_hash::Pdq};

/// This many hashes can be compared one after the other in less than 0.1 ms, and need no tables.
const FEW: usize = 16_384;
/// If the tables name more than this fraction of all hashes, because many are alike, they are not
/// used. Comparing all hashes is then faster. It also bounds the cost of a list that was made to
/// cost time.
const CROWDED: usize = 16;
/// When this fraction of all hashes is missing from the tables or was removed, the tables are built
/// again.
const LOOSE: usize = 32;

/// Hashes with the ids of their entries.
#[derive(Clone, Debug)]
pub(super) struct Near {
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
    pub(super) fn nearest(&self, hash: &Pdq, max_distance: u32) -> Option<(u32, HashEntryId)> {
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

    pub(super) fn extend(&mut self, entries: impl Iterator<Item = (HashEntryId, Pdq)>) {
        for (id, hash) in entries {
            self.ids.push(id);
            self.hashes.push(hash);
        }
        self.tidy();
    }

    pub(super) fn remove(&mut self, id: HashEntryId, hash: &Pdq) -> bool {
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

    pub(super) fn len(&self) -> usize {
        self.hashes.len() - self.removed.len()
    }

    pub(super) fn approx_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<HashEntryId>()
            + self.hashes.capacity() * size_of::<Pdq>()
            + self.removed.len() * size_of::<usize>() * 3 / 2
            + self.words.approx_bytes()
    }
}

#[cfg(test)]
mod tests;
