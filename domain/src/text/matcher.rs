//! Finding many terms at once, on all readings of a text.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};

use super::boundary::{is_unspaced, joined};
use super::loose::Loose;
use super::trie::trie_states;
use super::{Folded, Readings};

/// What must stand around a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    /// The ends of words. Such a term is found on the loose reading too.
    Word,
    /// Anything. Such a term is found on the folded reading only.
    Anything,
}

/// A term to find, on behalf of `owner`: an index of the caller's. The terms of an owner come one after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term<'a> {
    pub(crate) text: &'a str,
    pub(crate) bounds: Bounds,
    pub(crate) owner: usize,
}

/// Where a term was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) place: Where,
    /// Bytes of the folded reading.
    pub(crate) folded: Range<usize>,
}

/// The reading on which a term was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Folded,
    Loose,
}

/// Whether an owner wants more hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    More,
    Enough,
}

/// The fewest letters of a term that is looked for on the loose reading: shorter ones appear there by chance. In
/// scripts whose signs are syllables or words one less will do.
const LOOSE_LETTERS: usize = 3;

/// One automaton for each reading, over the terms of all owners.
pub(crate) struct Matcher {
    folded: Automaton,
    loose: Automaton,
    /// Of the terms that are looked for on the loose reading, in bytes.
    longest: usize,
    owners: usize,
}

/// Terms being gathered for a [`Matcher`].
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

    /// How many states the automata will have, which bounds what building them takes.
    pub(crate) fn states(&self) -> usize {
        trie_states(&self.folded.texts) + trie_states(&self.loose.texts)
    }

    /// # Errors
    /// When the terms are more than an automaton can number.
    pub(crate) fn build(self) -> Result<Matcher, BuildError> {
        Ok(Matcher {
            folded: self.folded.build()?,
            loose: self.loose.build()?,
            longest: self.longest,
            owners: self.owners,
        })
    }
}

#[derive(Default)]
struct Automaton {
    search: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
}

struct Pattern {
    owners: Vec<(usize, Bounds)>,
    /// For the loose reading, how often each letter is repeated; see [`Loose::holds_word`].
    runs: Box<[u8]>,
}

impl Matcher {
    /// Builds the automata. Terms that fold to nothing are never found; [`Matcher::is_findable`] tells.
    ///
    /// # Errors
    /// When the terms are more than an automaton can number.
    pub(crate) fn new<'a>(terms: impl IntoIterator<Item = Term<'a>>) -> Result<Self, BuildError> {
        let mut gathered = Terms::default();
        terms.into_iter().for_each(|term| gathered.add(term));
        gathered.build()
    }

    /// Whether anything of a term is left to look for after folding.
    pub(crate) fn is_findable(term: &str) -> bool {
        !fold_term(term).is_empty()
    }

    /// Reports every term in a text with its owner, overlapping ones too, the folded reading first, until the owner
    /// has had enough.
    pub(crate) fn find(&self, text: &Readings<'_>, mut report: impl FnMut(usize, Hit) -> Answer) {
        let mut settled = vec![false; self.owners];
        let folded = text.folded.text();
        self.folded
            .find(folded, &mut settled, |pattern, at, settled| {
                let is_word = is_word(folded, &at);
                pattern.report(settled, |bounds, owner| {
                    let hit = || Hit {
                        place: Where::Folded,
                        folded: at.clone(),
                    };
                    (is_word || bounds == Bounds::Anything).then(|| report(owner, hit()))
                })
            });
        if self.loose.search.is_none() {
            return;
        }
        for loose in text.loose(self.longest) {
            self.loose
                .find(loose.text(), &mut settled, |pattern, at, settled| {
                    let is_word = loose.holds_word(at.clone(), &pattern.runs);
                    pattern.report(settled, |_, owner| {
                        let hit = || Hit {
                            place: Where::Loose,
                            folded: loose.folded_span(at.clone()),
                        };
                        is_word.then(|| report(owner, hit()))
                    })
                });
        }
    }

    /// Heap bytes of the automata, approximately.
    pub(crate) fn approx_bytes(&self) -> usize {
        self.folded.approx_bytes() + self.loose.approx_bytes()
    }
}

fn fold_term(term: &str) -> String {
    Folded::new(term).text().trim().to_owned()
}

fn is_word(text: &str, at: &Range<usize>) -> bool {
    let (before, inside, after) = (&text[..at.start], &text[at.clone()], &text[at.end..]);
    !joined(before.chars().next_back(), inside.chars().next())
        && !joined(inside.chars().next_back(), after.chars().next())
}

impl Pattern {
    /// Offers a hit to every owner that is not settled; `offer` answers `None` where it is no hit for that owner.
    /// True when all are settled.
    fn report(
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
    /// Walks over all matches. A pattern whose owners are all settled (`visit` says so) costs no more.
    fn find(
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

    fn approx_bytes(&self) -> usize {
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

/// Distinct patterns being gathered; a text with other runs is another pattern.
#[derive(Default)]
struct Patterns {
    numbers: HashMap<(String, Box<[u8]>), usize>,
    texts: Vec<String>,
    owners: Vec<Vec<(usize, Bounds)>>,
}

impl Patterns {
    fn add(&mut self, text: String, runs: Box<[u8]>, term: Term<'_>) {
        let owner = (term.owner, term.bounds);
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
        // The contiguous NFA: a tenth of a DFA's memory, at a speed that the folding around it hides.
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

#[cfg(test)]
mod tests;
