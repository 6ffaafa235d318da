//! Finds which of many patterns match a text, with one automaton that reads the text once.

use regex_automata::{
    Input, MatchKind, PatternSet,
    hybrid::dfa::{Cache, DFA},
    nfa::thompson::{Config, NFA, WhichCaptures},
};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};

use super::caches::Caches;
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
fn cache_bytes(patterns: usize, left: usize) -> usize {
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
    fn new(
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
    fn approx_bytes(&self) -> usize {
        self.automaton.get_nfa().memory_usage()
    }

    /// The bytes of an empty cache.
    fn empty_cache_bytes(&self) -> usize {
        self.automaton.create_cache().memory_usage()
    }
}

/// Patterns without literals: one automaton for texts of ASCII, which is exact, and one for other texts.
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

/// How to replace the edges of Unicode words, which an automaton cannot detect in texts that are
/// not ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// With the edges of ASCII words, which are the same in a text of ASCII.
    Ascii,
    /// With nothing, so that the pattern matches wherever it did, and in other places, too.
    Anywhere,
}

/// The pattern with these edges of words.
fn with_edges(hir: &Hir, edges: Edges) -> Hir {
    rewrite(hir, &|leaf| {
        let ascii = match leaf.kind() {
            HirKind::Look(Look::WordUnicode) => Look::WordAscii,
            HirKind::Look(Look::WordUnicodeNegate) => Look::WordAsciiNegate,
            HirKind::Look(Look::WordStartUnicode) => Look::WordStartAscii,
            HirKind::Look(Look::WordEndUnicode) => Look::WordEndAscii,
            HirKind::Look(Look::WordStartHalfUnicode) => Look::WordStartHalfAscii,
            HirKind::Look(Look::WordEndHalfUnicode) => Look::WordEndHalfAscii,
            _ => return leaf.clone(),
        };
        match edges {
            Edges::Ascii => Hir::look(ascii),
            Edges::Anywhere => Hir::empty(),
        }
    })
}

/// The pattern with small ASCII letters instead of capital ones: where it matched, the new one
/// matches in small letters.
pub(super) fn in_small_letters(hir: &Hir) -> Hir {
    rewrite(hir, &|leaf| match leaf.kind() {
        HirKind::Literal(literal) => Hir::literal(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Unicode(class)) => {
            let capitals = ClassUnicode::new([ClassUnicodeRange::new('A', 'Z')]);
            let mut letters = class.clone();
            letters.intersect(&capitals);
            let small = letters.iter().map(|range| {
                ClassUnicodeRange::new(
                    range.start().to_ascii_lowercase(),
                    range.end().to_ascii_lowercase(),
                )
            });
            let mut rest = class.clone();
            rest.difference(&capitals);
            rest.union(&ClassUnicode::new(small));
            Hir::class(Class::Unicode(rest))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let capitals = ClassBytes::new([ClassBytesRange::new(b'A', b'Z')]);
            let mut letters = class.clone();
            letters.intersect(&capitals);
            let small = letters.iter().map(|range| {
                ClassBytesRange::new(
                    range.start().to_ascii_lowercase(),
                    range.end().to_ascii_lowercase(),
                )
            });
            let mut rest = class.clone();
            rest.difference(&capitals);
            rest.union(&ClassBytes::new(small));
            Hir::class(Class::Bytes(rest))
        }
        _ => leaf.clone(),
    })
}

/// The pattern with its literals, classes and assertions replaced.
fn rewrite(hir: &Hir, leaf: &impl Fn(&Hir) -> Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(|part| rewrite(part, leaf)).collect();
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => leaf(hir),
        HirKind::Capture(capture) => rewrite(&capture.sub, leaf),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(rewrite(&repetition.sub, leaf));
            Hir::repetition(repetition)
        }
    }
}
