//! What stands around a sign: its target, and whether it is denied, intended, quoted or only talked
//! about.

use std::ops::Range;

use super::terms::{LEXICON, Role};

/// An entry of the lexicon, found at bytes of the folded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) entry: usize,
    pub(super) at: Range<usize>,
}

/// A text's words and sentences, with what was found in them.
pub(super) struct Context {
    words: Vec<Word>,
    /// Signs that mean something: not part of a harmless phrase, nor of a longer sign.
    signs: Vec<Sign>,
    /// Words that are a target, an intent and so on, by their number, each list in order.
    targets: Vec<Range<usize>>,
    intents: Vec<Range<usize>>,
    intensifiers: Vec<Range<usize>>,
    negations: Vec<Range<usize>>,
    sentences: Vec<Sentence>,
    /// Places of quotation marks.
    quotes: Vec<usize>,
}

struct Word {
    end: usize,
    sentence: usize,
}

#[derive(Default, Clone)]
struct Sentence {
    group: bool,
    distance: bool,
}

/// The context of one sign.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own factor"
)]
pub(super) struct Around {
    pub(super) target: bool,
    pub(super) group: bool,
    pub(super) intent: bool,
    pub(super) intensifier: bool,
    pub(super) negation: bool,
    pub(super) distance: bool,
    pub(super) quoted: bool,
}

/// How many words before or after a sign belong to it.
mod reach {
    pub(super) const TARGET_BEFORE: usize = 4;
    pub(super) const TARGET_AFTER: usize = 4;
    pub(super) const INTENT: usize = 2;
    pub(super) const INTENSIFIER: usize = 2;
    pub(super) const NEGATION: usize = 3;
}

impl Context {
    /// Takes in everything that was found in a folded text.
    pub(super) fn new(text: &str, mut found: Vec<Sign>) -> Self {
        // Both readings may report the same place; longer ones first, so that they cover the
        // shorter.
        found.sort_unstable_by_key(|f| (f.at.start, std::cmp::Reverse(f.at.end), f.entry));
        found.dedup();
        let (words, sentences) = split(text);
        let mut context = Self {
            words,
            signs: Vec::new(),
            targets: Vec::new(),
            intents: Vec::new(),
            intensifiers: Vec::new(),
            negations: Vec::new(),
            sentences: vec![Sentence::default(); sentences],
            quotes: text.match_indices('"').map(|(at, _)| at).collect(),
        };
        // The end of the furthest sign or harmless phrase so far; with the order above, a shorter
        // one inside ends no later.
        let mut covered = 0;
        for found in found {
            let words = context.words_of(&found.at);
            let sentence = context
                .words
                .get(words.start)
                .map_or(0, |word| word.sentence);
            match LEXICON[found.entry].role {
                Role::Sign { .. } if found.at.end > covered => {
                    covered = found.at.end;
                    context.signs.push(found);
                }
                Role::Sign { .. } => {
                    // Another entry for exactly the same place is a sign of its own.
                    if context.signs.last().is_some_and(|last| last.at == found.at) {
                        context.signs.push(found);
                    }
                }
                Role::Harmless => covered = covered.max(found.at.end),
                Role::Target => context.targets.push(words),
                Role::Intent => context.intents.push(words),
                Role::Intensifier => context.intensifiers.push(words),
                Role::Negation => context.negations.push(words),
                Role::Group => context.sentences[sentence].group = true,
                Role::Distance => context.sentences[sentence].distance = true,
            }
        }
        context
    }

    /// The signs, in the order of the text.
    pub(super) fn signs(&self) -> &[Sign] {
        &self.signs
    }

    /// What stands around a sign.
    pub(super) fn around(&self, sign: &Sign) -> Around {
        let words = self.words_of(&sign.at);
        let sentence = self.words.get(words.start).map_or(0, |word| word.sentence);
        let before = |list: &[Range<usize>], reach: usize| self.is_before(list, words.start, reach);
        let after = self
            .targets
            .partition_point(|target| target.start < words.end);
        let target_after = self.targets.get(after).is_some_and(|t| {
            t.start < words.end + reach::TARGET_AFTER && self.sentence_of(t.start) == sentence
        });
        let quotes = self.quotes.partition_point(|quote| *quote < sign.at.start);
        Around {
            target: target_after || before(&self.targets, reach::TARGET_BEFORE),
            group: self
                .sentences
                .get(sentence)
                .is_some_and(|sentence| sentence.group),
            intent: before(&self.intents, reach::INTENT),
            intensifier: before(&self.intensifiers, reach::INTENSIFIER),
            negation: before(&self.negations, reach::NEGATION),
            distance: self
                .sentences
                .get(sentence)
                .is_some_and(|sentence| sentence.distance),
            quoted: quotes % 2 == 1 && quotes < self.quotes.len(),
        }
    }

    /// Whether an element of a list ends within `reach` words before a word, in the same sentence.
    fn is_before(&self, list: &[Range<usize>], word: usize, reach: usize) -> bool {
        let next = list.partition_point(|other| other.start < word);
        next.checked_sub(1)
            .and_then(|last| list.get(last))
            .is_some_and(|last| {
                last.end + reach > word && self.sentence_of(last.start) == self.sentence_of(word)
            })
    }

    fn sentence_of(&self, word: usize) -> usize {
        self.words.get(word).map_or(0, |word| word.sentence)
    }

    /// The numbers of the words that a range of bytes touches.
    fn words_of(&self, at: &Range<usize>) -> Range<usize> {
        let start = self.words.partition_point(|word| word.end <= at.start);
        let length = self.words[start..].partition_point(|word| word.end < at.end) + 1;
        start..start + length
    }
}

/// The words of a text, and the number of its sentences, at least one.
fn split(text: &str) -> (Vec<Word>, usize) {
    let mut words = Vec::with_capacity(text.len() / 5);
    let mut sentence = 0;
    let mut in_word = false;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        let is_part = c.is_alphanumeric() || c == '\'';
        if in_word && !is_part {
            words.push(Word { end: at, sentence });
        } else if is_part && !in_word && std::mem::take(&mut ended) {
            sentence += 1;
        }
        ended |= matches!(c, '.' | '!' | '?' | ';');
        in_word = is_part;
    }
    if in_word {
        words.push(Word {
            end: text.len(),
            sentence,
        });
    }
    (words, sentence + 1)
}
