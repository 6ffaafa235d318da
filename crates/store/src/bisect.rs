//! Bisection: finds the rows that spoil a batch: a piece that fails is split until each bad row is alone.
//!
//! Pieces are split between owners first, then in halves, and are tried in the order in which they
//! were split. So the rows of other owners are stored after a few statements, before the search
//! within one owner's rows goes deeper. One bad row in 256 costs 16 statements. An owner with many
//! bad rows gets a bounded number of splits; what is left of its rows is not tried.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// How often the rows of one owner are split. This is enough to find four bad rows in 256, wherever
/// they are.
const SPLITS: u32 = 32;

/// The pieces of a batch that are still to be tried.
pub(crate) struct Pieces<T, O> {
    waiting: VecDeque<Vec<T>>,
    owner: fn(&T) -> O,
    splits: HashMap<O, u32>,
}

/// Rows that must not be tried again.
pub(crate) enum Spoiled<T> {
    /// It failed alone.
    Row(T),
    /// They failed together, and too many pieces of their owner were split already.
    Rest(Vec<T>),
}

impl<T, O: Copy + Eq + Hash + Ord> Pieces<T, O> {
    pub(crate) fn new(batch: Vec<T>, owner: fn(&T) -> O) -> Self {
        Self {
            waiting: VecDeque::from([batch]),
            owner,
            splits: HashMap::new(),
        }
    }

    /// The next piece to try.
    pub(crate) fn next(&mut self) -> Option<Vec<T>> {
        self.waiting.pop_front()
    }

    /// Adds a piece to try.
    pub(crate) fn push(&mut self, piece: Vec<T>) {
        self.waiting.push_back(piece);
    }

    /// Splits a piece that failed. What must not be tried again comes back.
    pub(crate) fn split(&mut self, mut piece: Vec<T>) -> Option<Spoiled<T>> {
        piece.sort_by_key(self.owner);
        let middle = piece.len() / 2;
        let cut = match self.boundary(&piece, middle) {
            Some(boundary) => boundary,
            None if piece.len() > 1 => {
                let splits = self.splits.entry((self.owner)(&piece[0])).or_default();
                *splits += 1;
                if *splits > SPLITS {
                    return Some(Spoiled::Rest(piece));
                }
                middle
            }
            None => return piece.pop().map(Spoiled::Row),
        };
        let rest = piece.split_off(cut);
        self.waiting.extend([piece, rest]);
        None
    }

    /// Where, nearest to the middle, the rows of one owner end and those of another begin.
    fn boundary(&self, sorted: &[T], middle: usize) -> Option<usize> {
        (1..sorted.len())
            .filter(|at| (self.owner)(&sorted[at - 1]) != (self.owner)(&sorted[*at]))
            .min_by_key(|at| at.abs_diff(middle))
    }
}

#[cfg(test)]
mod tests;
