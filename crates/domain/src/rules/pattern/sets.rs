//! Patterns without literals, as automata that read a text once.

use regex_syntax::hir::Hir;

use super::rewrite::Edges;
use super::set::{Set, cache_bytes};
use crate::rules::budget::{Meter, Over};

/// One automaton for texts of ASCII, which is exact, and one for other texts.
pub(super) struct Sets {
    ascii: Set,
    other: Set,
    pub(super) cache_bytes: usize,
    pub(super) least_cache_bytes: usize,
}

impl Sets {
    pub(super) fn new(patterns: &[&Hir], meter: &Meter<'_>) -> Result<Self, Over> {
        let cache_bytes = cache_bytes(patterns.len(), meter.left());
        let ascii = Set::new(patterns, Edges::Ascii, cache_bytes, meter)?;
        let other = Set::new(patterns, Edges::Anywhere, cache_bytes, meter)?;
        let least_cache_bytes = ascii.empty_cache_bytes().max(other.empty_cache_bytes());
        Ok(Self {
            ascii,
            other,
            cache_bytes: cache_bytes + least_cache_bytes,
            least_cache_bytes,
        })
    }

    pub(super) fn of(&self, text: &str) -> &Set {
        if text.is_ascii() {
            &self.ascii
        } else {
            &self.other
        }
    }

    pub(super) fn approx_bytes(&self) -> usize {
        self.ascii.approx_bytes() + self.other.approx_bytes()
    }
}
