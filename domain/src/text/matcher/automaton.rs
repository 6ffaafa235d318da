//! One automaton over distinct patterns, each with the owners that look for it.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::{Answer, Bounds};

#[derive(Default)]
pub(super) struct Automaton {
    pub(super) search: Option<AhoCorasick>,
    pub(super) patterns: Vec<Pattern>,
}

pub(super) struct Pattern {
    pub(super) owners: Vec<(usize, Bounds)>,
    /// For the loose reading: how often each letter is repeated. See
    /// [`Loose::holds_word`](crate::text::loose::Loose::holds_word).
    pub(super) runs: Box<[u8]>,
}

impl Pattern {
    /// Offers a hit to every owner that is not settled. `offer` returns `None` if it is not a hit
    /// for that owner. Returns true if all owners are settled.
    pub(super) fn report(
        &self,
        settled: &mut [bool],
        mut offer: impl FnMut(Bounds, usize) -> Option<Answer>,
    ) -> bool {
        let mut all = true;
        for &(owner, bounds) in &self.owners {
            if !settled[owner] {
                settled[owner] = offer(bounds, owner) == Some(Answer::Enough);
                all &= settled[owner];
            }
        }
        all
    }
}

impl Automaton {
    /// Visits all matches. A pattern whose owners are all settled (`visit` returns true) costs
    /// nothing more.
    pub(super) fn find(
        &self,
        text: &str,
        settled: &mut [bool],
        mut visit: impl FnMut(&Pattern, Range<usize>, &mut [bool]) -> bool,
    ) {
        let Some(search) = &self.search else { return };
        let mut spent = vec![false; self.patterns.len()];
        for found in search.find_overlapping_iter(text) {
            let number = found.pattern().as_usize();
            if !spent[number] {
                spent[number] = visit(&self.patterns[number], found.range(), settled);
            }
        }
    }

    pub(super) fn approx_bytes(&self) -> usize {
        let owners = |pattern: &Pattern| {
            pattern.runs.len() + pattern.owners.capacity() * size_of::<(usize, Bounds)>()
        };
        self.search.as_ref().map_or(0, AhoCorasick::memory_usage)
            + self
                .patterns
                .iter()
                .map(|p| size_of::<Pattern>() + owners(p))
                .sum::<usize>()
    }
}
