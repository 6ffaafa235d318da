//! Folds a text character by character, and records where each byte came from.

use std::ops::Range;

use unicode_normalization::char::compose;

use super::letters::{Form, Kind, Letter, may_join, parts};
use super::{Source, position};

/// The fewest letters of a word that is read otherwise because it mixes scripts.
const FEWEST: u32 = 3;

/// A text being folded: `sources` has an element for each byte of `text`.
#[derive(Default)]
pub(super) struct Folding {
    pub(super) text: String,
    pub(super) sources: Vec<Source>,
    word: Word,
    /// The words that mix scripts.
    pub(super) mixed: Vec<Mixed>,
    /// Whether a character was read that turns letters or the direction.
    pub(super) turns: bool,
}

/// A word that no language writes.
#[derive(Clone, Debug)]
pub(in crate::text) struct Mixed {
    /// Bytes of the folded text.
    at: Range<u32>,
    kinds: Kinds,
}

impl Mixed {
    pub(in crate::text) const fn at(&self) -> Range<usize> {
        self.at.start as usize..self.at.end as usize
    }

    pub(in crate::text) const fn has_cyrillic(&self) -> bool {
        self.kinds.has(Kind::Cyrillic)
    }

    pub(in crate::text) const fn has_greek(&self) -> bool {
        self.kinds.has(Kind::Greek)
    }
}

/// A bit for each [`Kind`].
#[derive(Clone, Copy, Debug, Default)]
struct Kinds(u8);

impl Kinds {
    const fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    /// Whether there are only Latin letters and digits.
    const fn is_latin(self) -> bool {
        self.0 & !(1 << Kind::Latin as u8 | 1 << Kind::Digit as u8) == 0
    }

    const fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

/// What is known of the word that is being read.
#[derive(Clone, Copy, Default)]
struct Word {
    start: u32,
    letters: u32,
    kinds: Kinds,
    has_drawing: bool,
}

impl Word {
    /// Whether no language writes such a word: it has letters of two alphabets, digits among Cyrillic or
    /// Greek letters, or signs that are used for drawing.
    const fn is_mixed(self) -> bool {
        let scripts = [
            Kind::Latin,
            Kind::Cyrillic,
            Kind::Greek,
            Kind::Drawn,
            Kind::DrawnUnspaced,
        ];
        let (mut at, mut count) = (0, 0);
        while at < scripts.len() {
            count += self.kinds.has(scripts[at]) as u8;
            at += 1;
        }
        self.letters >= FEWEST
            && (count > 1
                || self.has_drawing
                || self.kinds.has(Kind::Digit)
                    && (self.kinds.has(Kind::Cyrillic) || self.kinds.has(Kind::Greek)))
    }
}

impl Folding {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            sources: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Folds ASCII that begins at a place of the original. Only its first and its last word can belong to
    /// a word that mixes scripts. What is between them needs no look at its letters.
    pub(super) fn fold_ascii(&mut self, text: &str, at: usize) {
        let bytes = text.as_bytes();
        let is_part = |b: &&u8| b.is_ascii_alphanumeric() || b.is_ascii_control();
        let first = bytes.iter().take_while(is_part).count();
        let last = bytes.len() - bytes.iter().rev().take_while(is_part).count();
        for (offset, b) in bytes.iter().enumerate() {
            let from = position(at + offset);
            let source = Source { from, to: from + 1 };
            if offset == first {
                self.end_word();
            }
            if (first..last).contains(&offset) && !b.is_ascii_control() {
                self.text.push(char::from(b.to_ascii_lowercase()));
                self.sources.push(source);
            } else {
                self.fold(char::from(*b), source);
            }
        }
    }

    pub(super) fn fold(&mut self, c: char, source: Source) {
        if c.is_ascii_lowercase() {
            self.note(Kind::Latin);
            return self.push(c, source);
        }
        let letter = Letter::of(c);
        self.turns |= letter.turns();
        match letter.kind() {
            Kind::Inner => {}
            Kind::Between => self.end_word(),
            kind => {
                self.note(kind);
                self.word.has_drawing |= letter.is_drawing();
            }
        }
        match letter.form() {
            Form::Nothing => {}
            Form::One(c) => self.push(c, source),
            Form::Other => parts(c, |part| self.push_part(part, source)),
        }
    }

    /// Ends the text.
    pub(super) fn end(&mut self) {
        self.end_word();
    }

    fn note(&mut self, kind: Kind) {
        if self.word.letters == 0 {
            self.word.start = position(self.text.len());
        }
        self.word.letters += 1;
        self.word.kinds.add(kind);
    }

    fn end_word(&mut self) {
        if self.word.letters == 0 {
            return;
        }
        if !self.word.kinds.is_latin() && self.word.is_mixed() {
            self.mixed.push(Mixed {
                at: self.word.start..position(self.text.len()),
                kinds: self.word.kinds,
            });
        }
        self.word = Word::default();
    }

    /// Takes a part of a decomposed character. A mark that spells goes back to its letter.
    fn push_part(&mut self, part: char, source: Source) {
        let last = self.text.chars().next_back().filter(|_| may_join(part));
        let whole = last.and_then(|last| Some((last, compose(last, part)?)));
        let Some((last, whole)) = whole else {
            return self.push(part, source);
        };
        let end = self.text.len() - last.len_utf8();
        let from = self.sources[end].from;
        self.text.truncate(end);
        self.sources.truncate(end);
        let to = source.to;
        self.push(whole, Source { from, to });
    }

    fn push(&mut self, c: char, source: Source) {
        self.text.push(c);
        self.sources.resize(self.text.len(), source);
    }
}
