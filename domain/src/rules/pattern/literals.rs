//! Which of many patterns can match a text at all: most need a literal that most texts do not have, and one automaton
//! looks for all those literals at once. Another goes through the rest.

use std::cmp::Reverse;
use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

use super::rewrite::{Edges, in_small_letters};
use super::set::{Set, SetCaches, cache_bytes};
use crate::rules::budget::{Meter, Over};
use crate::text::trie_states;

/// Shorter literals are in most texts, and would not spare a search.
const SHORTEST: usize = 3;
/// How many places inside a pattern are searched for a literal.
const MOST_PLACES: usize = 8;
/// Memory for all literals that are chosen from, in bytes. Beyond, a pattern has no choice but its longest ones.
const CHOICE_BYTES: usize = 16 << 20;

/// Tells the patterns that can match, by their number.
pub(super) struct Candidates {
    search: Option<AhoCorasick>,
    /// For each literal, the pattern that needs it or another.
    owners: Vec<usize>,
    /// Patterns without such literals, and what tells of them.
    others: Vec<usize>,
    sets: Option<Sets>,
    patterns: usize,
}

impl Candidates {
    /// `automata` has for each pattern the place of its rule, and the bytes of its own automaton.
    pub(super) fn new(
        patterns: &[Hir],
        automata: &[(usize, usize)],
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let choices = all_choices(patterns, meter)?;
        let mut users: HashMap<&[u8], usize> = HashMap::new();
        for literal in choices.iter().flatten().flatten() {
            *users.entry(literal).or_default() += 1;
        }
        let (mut texts, mut owners, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (number, choices) in choices.iter().enumerate() {
            // A literal that many patterns need, such as `https://`, is in many texts; a long one is in few.
            let rarest = choices.iter().min_by_key(|literals| {
                let most_users = literals.iter().map(|literal| users[&literal[..]]).max();
                (most_users, Reverse(shortest(literals)))
            });
            match rarest {
                Some(literals) => {
                    owners.resize(owners.len() + literals.len(), number);
                    texts.extend(literals);
                }
                None => others.push(number),
            }
        }
        let mut weights = vec![0; patterns.len()];
        for (text, owner) in texts.iter().zip(&owners) {
            weights[*owner] += text.len();
        }
        let weights: Vec<(usize, usize)> = automata
            .iter()
            .zip(weights)
            .map(|((order, _), weight)| (*order, weight))
            .collect();
        let search = (!texts.is_empty())
            .then(|| {
                meter.check_states(trie_states(&texts), &weights)?;
                AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .ascii_case_insensitive(true)
                    .build(&texts)
                    .map_err(|_| meter.full())
            })
            .transpose()?;
        let bytes = search.as_ref().map_or(0, AhoCorasick::memory_usage);
        meter.divide(bytes, &weights)?;
        // Each of the two sets is about as large as the automata of its patterns together.
        for number in &others {
            let (order, bytes) = automata[*number];
            meter.charge(order, 2 * bytes)?;
        }
        let without: Vec<&Hir> = others.iter().map(|number| &patterns[*number]).collect();
        Ok(Self {
            search,
            owners,
            sets: (!without.is_empty())
                .then(|| Sets::new(&without, meter))
                .transpose()?,
            others,
            patterns: patterns.len(),
        })
    }

    /// The numbers of the patterns that can match a text, ascending.
    pub(super) fn of(&self, text: &str, caches: &SetCaches) -> impl Iterator<Item = usize> + use<> {
        let mut possible = vec![false; self.patterns];
        if let Some(sets) = &self.sets {
            sets.of(text).candidates(text, caches, |number| {
                possible[self.others[number]] = true;
            });
        }
        if let Some(search) = &self.search {
            for found in search.find_overlapping_iter(text) {
                possible[self.owners[found.pattern().as_usize()]] = true;
            }
        }
        possible
            .into_iter()
            .enumerate()
            .filter_map(|(number, possible)| possible.then_some(number))
    }

    pub(super) fn approx_bytes(&self) -> usize {
        self.search.as_ref().map_or(0, AhoCorasick::memory_usage)
            + self.sets.as_ref().map_or(0, Sets::approx_bytes)
            + (self.owners.capacity() + self.others.capacity()) * size_of::<usize>()
    }

    /// What searches with sets are worth remembering: for two at once. Zero without sets.
    pub(super) fn wanted_cache_bytes(&self) -> usize {
        self.sets.as_ref().map_or(0, |sets| 2 * sets.cache_bytes)
    }

    /// What one search must remember, in bytes. Zero without sets.
    pub(super) fn least_cache_bytes(&self) -> usize {
        self.sets.as_ref().map_or(0, |sets| sets.least_cache_bytes)
    }
}

/// Patterns as an automaton for texts of ASCII, which is exact, and one for others.
struct Sets {
    ascii: Set,
    other: Set,
    cache_bytes: usize,
    least_cache_bytes: usize,
}

impl Sets {
    fn new(patterns: &[&Hir], meter: &Meter<'_>) -> Result<Self, Over> {
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

    fn of(&self, text: &str) -> &Set {
        if text.is_ascii() {
            &self.ascii
        } else {
            &self.other
        }
    }

    fn approx_bytes(&self) -> usize {
        self.ascii.approx_bytes() + self.other.approx_bytes()
    }
}

/// Literals in lower-case ASCII, of which every match of a pattern has at least one.
type Literals = Vec<Vec<u8>>;

/// The literals that each pattern needs.
fn all_choices(patterns: &[Hir], meter: &Meter<'_>) -> Result<Vec<Vec<Literals>>, Over> {
    let mut bytes = 0;
    let mut all = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        meter.check_time()?;
        let mut choices = choices(pattern);
        bytes += literal_bytes(&choices);
        if bytes > CHOICE_BYTES {
            choices.sort_by_key(|literals| Reverse(shortest(literals)));
            choices.truncate(1);
        }
        all.push(choices);
    }
    Ok(all)
}

fn literal_bytes(choices: &[Literals]) -> usize {
    let literals = choices.iter().flatten();
    literals
        .map(|literal| size_of::<Vec<u8>>() + literal.len())
        .sum()
}

/// The literals that a pattern needs, where they are worth it, taken from its ends and from inside.
fn choices(hir: &Hir) -> Vec<Literals> {
    let extract = |hir: &Hir, kind: ExtractKind| {
        lowered(Extractor::new().kind(kind.clone()).extract(hir), &kind)
    };
    let hir = in_small_letters(hir);
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix].map(|kind| extract(&hir, kind));
    let inside = inner_places(&hir).map(|rest| extract(&rest, ExtractKind::Prefix));
    ends.into_iter()
        .chain(inside)
        .flatten()
        .filter(|literals| shortest(literals) >= SHORTEST)
        .collect()
}

fn shortest(literals: &Literals) -> usize {
    literals.iter().map(Vec::len).min().unwrap_or(0)
}

/// What is left of a pattern behind each of its first repetitions.
fn inner_places(hir: &Hir) -> impl Iterator<Item = Hir> {
    let parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => &[],
    };
    let is_repetition = |part: &Hir| matches!(part.kind(), HirKind::Repetition(_));
    let places = (1..parts.len()).filter(move |at| is_repetition(&parts[at - 1]));
    places
        .take(MOST_PLACES)
        .map(|at| Hir::concat(parts[at..].to_vec()))
}

/// The literals of a sequence in lower case, each once; `None` for an infinite one.
fn lowered(mut seq: Seq, kind: &ExtractKind) -> Option<Literals> {
    match kind {
        ExtractKind::Suffix => seq.optimize_for_suffix_by_preference(),
        _ => seq.optimize_for_prefix_by_preference(),
    }
    let mut literals: Vec<_> = seq
        .literals()?
        .iter()
        .map(|literal| literal.as_bytes().to_ascii_lowercase())
        .collect();
    literals.sort_unstable();
    literals.dedup();
    Some(literals)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::rules::Limits;

    fn literals(pattern: &str) -> Vec<Vec<String>> {
        choices(&regex_syntax::parse(pattern).unwrap())
            .into_iter()
            .map(|literals| {
                literals
                    .into_iter()
                    .map(|l| String::from_utf8(l).unwrap())
                    .collect()
            })
            .collect()
    }

    fn candidates(patterns: &[Hir]) -> Candidates {
        let clock = || Duration::ZERO;
        let automata = vec![(0, 0); patterns.len()];
        Candidates::new(
            patterns,
            &automata,
            &mut Meter::new(Limits::default(), &clock),
        )
        .unwrap()
    }

    #[test]
    fn literals_are_taken_from_either_end_and_from_inside() {
        assert_eq!(literals("review-\\d{4}"), [["review-"]]);
        assert_eq!(literals("[a-z]+@example\\.com")[0], ["@example.com"]);
        assert_eq!(literals("[a-z]+inside\\d*"), [["inside"]]);
        assert_eq!(literals("(?i)\\w+fob\\w+"), [["fob"]]);
        assert_eq!(literals("\\w+").len(), 0);
        assert_eq!(literals("ab|[0-9]+").len(), 0);
    }

    #[test]
    fn the_literal_that_fewest_patterns_need_is_looked_for() {
        let patterns = [
            "alphabet[0-9]+\\.example\\.com",
            "cabinets[0-9]+\\.example\\.com",
        ];
        let parsed = patterns.map(|pattern| regex_syntax::parse(pattern).unwrap());
        let candidates = candidates(&parsed);
        let found = |text| candidates.of(text, &SetCaches::new(0)).collect::<Vec<_>>();
        assert_eq!(found("shop1.example.com"), [0; 0]);
        assert_eq!(found("cabinets7.example.com"), [1]);
    }

    proptest! {
        #[test]
        fn no_pattern_that_matches_is_missed(
            pattern in "(\\(\\?i\\))?([aAbk]{1,4}|\\[ab\\]\\+|\\.|ſ|\\\\b){1,4}(\\|[abK]{3,5})?", text in "[aAbBkKſK]{0,12}",
        ) {
            let hir = regex_syntax::parse(&pattern).unwrap();
            let regex = regex_automata::meta::Regex::builder().build_from_hir(&hir).unwrap();
            if regex.is_match(&text) {
                let candidates = candidates(&[hir]);
                prop_assert_eq!(candidates.of(&text, &SetCaches::new(0)).count(), 1);
            }
        }
    }
}
