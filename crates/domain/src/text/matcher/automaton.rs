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
    pub(super) owners: Vec<Owner>,
    /// For the loose reading: how often each letter is repeated. See
    /// [`Loose::holds_word`](crate::text::loose::Loose::holds_word).
    pub(super) runs: Box<[u8]>,
}

/// Who looks for a pattern, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) number: usize,
    pub(super) bounds: Bounds,
    /// Whether the term has Latin letters only. A word of another script that only looks like it is not
    /// the term among other words of that script: Russian но is not "ho".
    pub(super) is_latin: bool,
}

impl Pattern {
    /// Offers a hit to every owner that is not settled. `offer` returns `None` if it is not a hit
    /// for that owner. Returns true if all owners are settled.
    pub(super) fn report(
        &self,
        settled: &mut [bool],
        mut offer: impl FnMut(Owner) -> Option<Answer>,
    ) -> bool {
        let mut all = true;
        for owner in &self.owners {
            let settled = &mut settled[owner.number];
            if !*settled {
                *settled = offer(*owner) == Some(Answer::Enough);
                all &= *settled;
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
        let owners =
            |pattern: &Pattern| pattern.runs.len() + pattern.owners.capacity() * size_of::<Owner>();
        self.search.as_ref().map_or(0, AhoCorasick::memory_usage)
            + self
                .patterns
                .iter()
                .map(|p| size_of::<Pattern>() + owners(p))
                .sum::<usize>()
    }
}
