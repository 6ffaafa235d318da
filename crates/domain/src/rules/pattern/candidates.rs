//! Finds which of many patterns can match a text at all. Most patterns need a literal that most
//! texts do not contain, and one automaton looks for all these literals at once. Another automaton
//! checks the other patterns.

use std::cmp::Reverse;
use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_syntax::hir::Hir;

use super::literals::{all_choices, shortest};
use super::set::SetCaches;
use super::sets::Sets;
use crate::rules::budget::{Meter, Over};
use crate::text::trie_states;

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

#[cfg(test)]
mod tests;
