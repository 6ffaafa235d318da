//! Finds many terms at once, on all readings of a text.

mod automaton;
mod terms;

use std::ops::Range;

use aho_corasick::BuildError;

use self::automaton::Automaton;
use self::terms::fold_term;
use super::Readings;
use super::attached_words::{is_begun, is_ended};
use super::word_boundary::{is_twin, joined};

pub(crate) use self::terms::Terms;

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

#[cfg(test)]
mod tests;
