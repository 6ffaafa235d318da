//! Finds which of many patterns can match a text at all. Most patterns need a literal that most
//! texts do not contain, and one automaton looks for all these literals at once. Another automaton
//! checks the other patterns.

#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::HashMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_syntax::hir::{
    Hir, HirKind,
    literal::{ExtractKind, Extractor, Seq},
};

use super::set::{SetCaches, Sets, in_small_letters};
use crate::{
    rules::budget::{Meter, Over},
    text::trie_states,
};

/// Finds the patterns that can match, by their number.
pub(super) struct Candidates {
    search: Option<AhoCorasick>,
    /// For each literal, the pattern that needs this literal or another one of its set.
    owners: Vec<usize>,
    /// Patterns without such literals, and the automata that check them.
    others: Vec<usize>,
    sets: Option<Sets>,
    patterns: usize,
}

impl Candidates {
    /// For each pattern, `automata` has the place of its rule and the bytes of its own automaton.
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
            // A literal that many patterns need, such as `https://`, is in many texts. A long
            // literal is in few.
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

    /// How many bytes are worth keeping for searches with sets: enough for two at once. Zero
    /// without sets.
    pub(super) fn wanted_cache_bytes(&self) -> usize {
        self.sets.as_ref().map_or(0, |sets| 2 * sets.cache_bytes)
    }

    /// The bytes that one search needs. Zero without sets.
    pub(super) fn least_cache_bytes(&self) -> usize {
        self.sets.as_ref().map_or(0, |sets| sets.least_cache_bytes)
    }
}

/// Shorter literals are in most texts, so they would not save a search.
const SHORTEST: usize = 3;

/// How many places inside a pattern are searched for a literal.
const MOST_PLACES: usize = 8;

/// Memory for all candidate literals, in bytes. Over this limit, a pattern keeps only its longest
/// ones.
const CHOICE_BYTES: usize = 16 << 20;

/// Literals in lower-case ASCII. Every match of a pattern contains at least one of them.
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

/// The sets of literals that a pattern needs and that are long enough, from its ends and from
/// inside.
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

/// The rest of a pattern after each of its first repetitions.
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

/// The literals of a sequence in lower case, without repetitions; `None` for an infinite sequence.
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
