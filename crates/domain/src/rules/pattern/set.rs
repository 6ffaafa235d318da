//! Finds which of many patterns match a text, with one automaton that reads the text once.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Config, NFA, WhichCaptures};
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::Hir;

use super::caches::Caches;
use super::rewrite::{Edges, with_edges};
use crate::rules::budget::{Meter, Over};

/// How much a search may remember of the automaton, in bytes: this much per pattern, within limits.
/// The automaton is built as texts need it. When the cache is full, it is cleared and built again.
const CACHE_BYTES_PER_PATTERN: usize = 64 << 10;
const SMALLEST_CACHE: usize = 128 << 10;
const LARGEST_CACHE: usize = 16 << 20;
/// After this many restarts in one text, the automaton gives up if it makes too little progress.
const MOST_RESTARTS: usize = 4;
/// The least progress: this many bytes of the text for each state that was built.
const LEAST_PROGRESS: usize = 8;

/// The caches of searches with sets, by the kind of set.
pub(super) type SetCaches = Caches<Edges, Box<Cache>>;

/// How much one search with a set of this many patterns may remember, in bytes, if `left` bytes are
/// left.
pub(super) fn cache_bytes(patterns: usize, left: usize) -> usize {
    let wanted = (patterns * CACHE_BYTES_PER_PATTERN).clamp(SMALLEST_CACHE, LARGEST_CACHE);
    // Two searches at once, and as much again for everything else.
    wanted.min(left / 4).max(SMALLEST_CACHE)
}

/// Patterns as one automaton.
pub(super) struct Set {
    automaton: DFA,
    edges: Edges,
}

impl Set {
    /// # Errors
    /// If not enough is left for the automaton.
    pub(super) fn new(
        patterns: &[&Hir],
        edges: Edges,
        cache_bytes: usize,
        meter: &Meter<'_>,
    ) -> Result<Self, Over> {
        meter.check_time()?;
        let rewritten: Vec<Hir> = patterns.iter().map(|hir| with_edges(hir, edges)).collect();
        let config = Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(meter.limit()));
        let nfa = NFA::compiler()
            .configure(config)
            .build_many_from_hir(&rewritten)
            .map_err(|_| meter.full())?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(cache_bytes)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MOST_RESTARTS))
            .minimum_bytes_per_state(Some(LEAST_PROGRESS));
        let automaton = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .map_err(|_| meter.full())?;
        Ok(Self { automaton, edges })
    }

    /// The patterns that may match a text: all that do match, and those that fail only because of
    /// the edge of a word. All patterns, if the automaton gave up.
    pub(super) fn candidates(
        &self,
        text: &str,
        caches: &SetCaches,
        mut candidate: impl FnMut(usize),
    ) {
        let mut found = PatternSet::new(self.automaton.pattern_len());
        let mut cache = caches
            .take(&self.edges)
            .unwrap_or_else(|| Box::new(self.automaton.create_cache()));
        let input = Input::new(text);
        match self
            .automaton
            .try_which_overlapping_matches(&mut cache, &input, &mut found)
        {
            Ok(()) => found.iter().for_each(|number| candidate(number.as_usize())),
            Err(_) => (0..self.automaton.pattern_len()).for_each(candidate),
        }
        let bytes = size_of::<Cache>() + cache.memory_usage();
        caches.put_back(self.edges, cache, bytes);
    }

    /// Heap bytes, approximately, without caches.
    pub(super) fn approx_bytes(&self) -> usize {
        self.automaton.get_nfa().memory_usage()
    }

    /// The bytes of an empty cache.
    pub(super) fn empty_cache_bytes(&self) -> usize {
        self.automaton.create_cache().memory_usage()
    }
}
