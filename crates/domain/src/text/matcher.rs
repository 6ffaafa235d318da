//! Finds many terms at once, on all readings of a text.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};

use super::{
    Folded, Readings,
    attached_words::{is_begun, is_ended},
    loose::Loose,
    word_boundary::{is_twin, is_unspaced, joined},
};

/// What must stand around a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// The ends of words. Such a term is also found on the loose reading.
    Word,
    /// Anything. Such a term is found on the folded reading only.
    Anything,
}

/// A term to find on behalf of `owner`, an index of the caller. The terms of one owner must come
/// one after another.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// The term, as somebody wrote it.
    pub text: &'a str,
    /// What must stand around it.
    pub bounds: Bounds,
    /// Whose it is.
    pub owner: usize,
}

/// Where a term was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The reading on which it was found.
    pub place: Where,
    /// Bytes of the folded reading.
    pub folded: Range<usize>,
}

/// The reading on which a term was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// The folded reading.
    Folded,
    /// A loose reading.
    Loose,
}

/// Whether an owner wants more hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The next one is reported, too.
    More,
    /// No other one is reported to this owner.
    Enough,
}

/// One automaton for each reading, over the terms of all owners.
pub struct Matcher {
    folded: Automaton,
    loose: Automaton,
    /// The length of the longest term for the loose reading, in bytes.
    longest: usize,
    owners: usize,
}

impl Matcher {
    /// Builds the automata. Terms that fold to nothing are never found; see
    /// [`Matcher::is_findable`].
    ///
    /// # Errors
    /// If there are more terms than an automaton can number.
    pub fn new<'a>(terms: impl IntoIterator<Item = Term<'a>>) -> Result<Self, BuildError> {
        let mut gathered = Terms::default();
        terms.into_iter().for_each(|term| gathered.add(term));
        gathered.build()
    }

    /// Whether folding leaves something of a term.
    pub fn is_findable(term: &str) -> bool {
        !fold_term(term).is_empty()
    }

    /// Reports every term in a text with its owner, including overlapping ones, the folded reading
    /// first, until the owner has enough.
    pub fn find(&self, text: &Readings<'_>, mut report: impl FnMut(usize, Hit) -> Answer) {
        let mut settled = vec![false; self.owners];
        let folded = text.folded.text();
        self.folded
            .find(folded, &mut settled, |pattern, at, settled| {
                let is_word = is_word(folded, &at);
                let is_ordinary = is_word && is_ordinary(text, &at);
                pattern.report(settled, |owner| {
                    let hit = || Hit {
                        place: Where::Folded,
                        folded: at.clone(),
                    };
                    let is_hit = match owner.bounds {
                        Bounds::Word => is_word && !(owner.is_latin && is_ordinary),
                        Bounds::Anything => true,
                    };
                    is_hit.then(|| report(owner.number, hit()))
                })
            });
        if self.loose.search.is_none() {
            return;
        }
        for (loose, of) in text.loose(self.longest) {
            self.loose
                .find(loose.text(), &mut settled, |pattern, at, settled| {
                    let is_word = loose.holds_word(at.clone(), &pattern.runs);
                    pattern.report(settled, |owner| {
                        let hit = || Hit {
                            place: Where::Loose,
                            folded: text.folded_span(of, loose.folded_span(at.clone())),
                        };
                        is_word.then(|| report(owner.number, hit()))
                    })
                });
        }
    }

    /// Heap bytes of the automata, approximately.
    pub fn approx_bytes(&self) -> usize {
        self.folded.approx_bytes() + self.loose.approx_bytes()
    }
}

fn is_word(text: &str, at: &Range<usize>) -> bool {
    let is_edge = |place: usize| {
        let (before, after) = text.split_at(place);
        !joined(before.chars().next_back(), after.chars().next())
    };
    (is_edge(at.start) || is_begun(text, at, is_edge))
        && (is_edge(at.end) || is_ended(text, at, is_edge))
}

/// Whether a place is an ordinary word of a script that looks like Latin: all its letters are of that
/// script, and a word beside it has letters that look like none.
fn is_ordinary(text: &Readings<'_>, at: &Range<usize>) -> bool {
    /// Twice the length of a long word.
    const NEAR: usize = 48;
    let folded = text.folded.text();
    if text.folded.is_same() {
        return false;
    }
    let written = &text.original[text.original_span(at.clone())];
    if !written.chars().all(|c| is_twin(c) || !c.is_alphanumeric()) {
        return false;
    }
    let start = folded.floor_char_boundary(at.start.saturating_sub(NEAR));
    let end = folded.ceil_char_boundary((at.end + NEAR).min(folded.len()));
    let before = folded[start..at.start].split_whitespace().next_back();
    let after = folded[at.end..end].split_whitespace().next();
    before
        .into_iter()
        .chain(after)
        .any(|word| word.contains(is_twin))
}

#[derive(Default)]
struct Automaton {
    search: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
}

struct Pattern {
    owners: Vec<Owner>,
    /// For the loose reading: how often each letter is repeated. See
    /// [`Loose::holds_word`](crate::text::loose::Loose::holds_word).
    runs: Box<[u8]>,
}

/// Who looks for a pattern, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    number: usize,
    bounds: Bounds,
    /// Whether the term has Latin letters only. A word of another script that only looks like it is not
    /// the term among other words of that script: Russian но is not "ho".
    is_latin: bool,
}

impl Pattern {
    /// Offers a hit to every owner that is not settled. `offer` returns `None` if it is not a hit
    /// for that owner. Returns true if all owners are settled.
    fn report(&self, settled: &mut [bool], mut offer: impl FnMut(Owner) -> Option<Answer>) -> bool {
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

fn fold_term(term: &str) -> String {
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

/// How many states a keyword machine for these texts will have: one for each prefix. It is counted
/// before the machine is built, so that one that is too large is never built.
pub(crate) fn trie_states<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> usize {
    let mut texts: Vec<T> = texts.into_iter().collect();
    texts.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
    let mut before: &[u8] = &[];
    let mut states = 0;
    for text in &texts {
        let text = text.as_ref();
        let common = text.iter().zip(before).take_while(|(a, b)| a == b).count();
        states += text.len() - common;
        before = text;
    }
    states
}
