//! Which of many patterns match a text, told by one automaton that goes over the text once.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Config, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::Hir;

use super::TooLarge;
use super::rewrite::{Edges, with_edges};

/// What a thread may remember of the automaton, in bytes: so much for each pattern, within bounds. The automaton is
/// built as texts need it; beyond this it forgets and begins anew.
const CACHE_BYTES_PER_PATTERN: usize = 64 << 10;
const SMALLEST_CACHE: usize = 128 << 10;
const LARGEST_CACHE: usize = 16 << 20;
/// Having begun anew so often in one text, the automaton gives up if it does not get further each time.
const MOST_RESTARTS: usize = 4;
/// How far it must get, in bytes of the text for each state that it has built.
const LEAST_PROGRESS: usize = 8;

/// Patterns as one automaton.
pub(super) struct Set {
    automaton: DFA,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync>>,
    cache_bytes: usize,
}

impl Set {
    /// # Errors
    /// When the patterns are more than an automaton can number.
    pub(super) fn new(patterns: &[&Hir], edges: Edges) -> Result<Self, TooLarge> {
        let rewritten: Vec<Hir> = patterns.iter().map(|hir| with_edges(hir, edges)).collect();
        let config = Config::new().which_captures(WhichCaptures::None);
        let nfa = NFA::compiler()
            .configure(config)
            .build_many_from_hir(&rewritten)
            .map_err(|_| TooLarge)?;
        let cache_bytes =
            (patterns.len() * CACHE_BYTES_PER_PATTERN).clamp(SMALLEST_CACHE, LARGEST_CACHE);
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(cache_bytes)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MOST_RESTARTS))
            .minimum_bytes_per_state(Some(LEAST_PROGRESS));
        let automaton = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .map_err(|_| TooLarge)?;
        let own = automaton.clone();
        Ok(Self {
            automaton,
            caches: Pool::new(Box::new(move || own.create_cache())),
            cache_bytes,
        })
    }

    /// The patterns that may match a text: all that do, and such as do but for the edge of a word. All of them if the
    /// automaton gave up on it.
    pub(super) fn candidates(&self, text: &str, mut candidate: impl FnMut(usize)) {
        let mut found = PatternSet::new(self.automaton.pattern_len());
        let mut cache = self.caches.get();
        let input = Input::new(text);
        match self
            .automaton
            .try_which_overlapping_matches(&mut cache, &input, &mut found)
        {
            Ok(()) => found.iter().for_each(|number| candidate(number.as_usize())),
            Err(_) => (0..self.automaton.pattern_len()).for_each(candidate),
        }
    }

    /// Heap bytes, approximately, with what one thread remembers.
    pub(super) fn approx_bytes(&self) -> usize {
        self.automaton.get_nfa().memory_usage() + self.cache_bytes
    }
}
