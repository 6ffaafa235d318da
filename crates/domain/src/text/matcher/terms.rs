//! Collects terms for a matcher, each distinct pattern once.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};

use super::automaton::{Automaton, Owner, Pattern};
use super::{Bounds, Matcher, Term};
use crate::text::Folded;
use crate::text::loose::Loose;
use crate::text::trie::trie_states;
use crate::text::word_boundary::{is_twin, is_unspaced};

/// The fewest letters of a term for the loose reading. Shorter ones appear there by chance. In
/// scripts whose signs are syllables or words, one letter less is enough.
const LOOSE_LETTERS: usize = 3;

/// Terms that are collected for a [`Matcher`].
#[derive(Default)]
pub(crate) struct Terms {
    folded: Patterns,
    loose: Patterns,
    longest: usize,
    owners: usize,
}

impl Terms {
    pub(crate) fn add(&mut self, term: Term<'_>) {
        self.owners = self.owners.max(term.owner + 1);
        let text = fold_term(term.text);
        if text.is_empty() {
            return;
        }
        let fewest = LOOSE_LETTERS - usize::from(text.contains(is_unspaced));
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        if term.bounds == Bounds::Word && letters >= fewest {
            self.longest = self.longest.max(text.len());
            let reading = Loose::of_term(&text);
            self.loose
                .add(reading.text().to_owned(), reading.runs(), term);
            if text.contains(' ') {
                // "two-words" reads as one word.
                let reading = Loose::of_term(&text.replace(' ', ""));
                self.loose
                    .add(reading.text().to_owned(), reading.runs(), term);
            }
        }
        self.folded.add(text, Box::default(), term);
    }

    /// How many states the automata will have. This bounds the memory for building them.
    pub(crate) fn states(&self) -> usize {
        trie_states(&self.folded.texts) + trie_states(&self.loose.texts)
    }

    /// # Errors
    /// If there are more terms than an automaton can number.
    pub(crate) fn build(self) -> Result<Matcher, BuildError> {
        Ok(Matcher {
            folded: self.folded.build()?,
            loose: self.loose.build()?,
            longest: self.longest,
            owners: self.owners,
        })
    }
}

pub(super) fn fold_term(term: &str) -> String {
    Folded::new(term).text().trim().to_owned()
}

/// Distinct patterns that are collected. A text with other runs is another pattern.
#[derive(Default)]
struct Patterns {
    numbers: HashMap<(String, Box<[u8]>), usize>,
    texts: Vec<String>,
    owners: Vec<Vec<Owner>>,
}

impl Patterns {
    fn add(&mut self, text: String, runs: Box<[u8]>, term: Term<'_>) {
        let owner = Owner {
            number: term.owner,
            bounds: term.bounds,
            is_latin: !term.text.contains(is_twin),
        };
        let number = *self
            .numbers
            .entry((text, runs))
            .or_insert_with_key(|(text, _)| {
                self.texts.push(text.clone());
                self.owners.push(Vec::new());
                self.texts.len() - 1
            });
        // An owner's terms come one after another, so a repetition is the last one.
        let owners = &mut self.owners[number];
        if owners.last() != Some(&owner) {
            owners.push(owner);
        }
    }

    fn build(self) -> Result<Automaton, BuildError> {
        if self.texts.is_empty() {
            return Ok(Automaton::default());
        }
        // The contiguous NFA takes a tenth of a DFA's memory. Folding takes longer than its
        // searches anyway.
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&self.texts)?;
        let mut patterns: Vec<Pattern> = self
            .owners
            .into_iter()
            .map(|owners| Pattern {
                owners,
                runs: Box::default(),
            })
            .collect();
        for ((_, runs), number) in self.numbers {
            patterns[number].runs = runs;
        }
        Ok(Automaton {
            search: Some(search),
            patterns,
        })
    }
}
