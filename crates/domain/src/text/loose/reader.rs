//! Reads a folded text loosely: words first, then what lies between them.

mod glyph;
mod joined_words;
mod spelled_out;

use std::ops::Range;

use self::glyph::{Glyph, Kind, glyphs};
use super::leet::{Choice, is_ambiguous, is_inner_sign, letter};
use super::{Cell, Loose};
use crate::text::word_boundary::is_unspaced;

/// A word of this length is hardly a number with a unit, or the name of a road.
const LONG_WORD: usize = 5;
/// The fewest regional indicators in a row that are read as letters: two are a flag.
const INDICATORS: usize = 3;

/// Reads a window of a folded text into a loose reading. Returns true if another [`Choice`] reads
/// it differently.
pub(super) fn read(folded: &str, window: Range<usize>, choice: Choice, loose: &mut Loose) -> bool {
    let glyphs = glyphs(folded, window);
    let mut reading = Reading {
        folded,
        glyphs: &glyphs,
        choice,
        loose,
        is_ambiguous: false,
    };
    reading.read();
    reading.is_ambiguous
}

struct Reading<'a> {
    folded: &'a str,
    glyphs: &'a [Glyph],
    choice: Choice,
    loose: &'a mut Loose,
    is_ambiguous: bool,
}

impl Reading<'_> {
    fn read(&mut self) {
        let mut done = 0;
        let mut next = self.word_from(0);
        while let Some(word) = next {
            if !self.is_joined(done..word.start, &word) {
                self.copy(done..word.start);
            }
            let letters = self.spelled_from(word.clone());
            match letters.last() {
                None => {
                    done = word.end;
                    self.copy_word(word);
                }
                Some(last) => {
                    done = last + 1;
                    if self.reads_as_letters(letters.iter().copied()) {
                        self.join(&letters);
                    } else {
                        self.copy(word.start..done);
                    }
                }
            }
            next = self.word_from(done);
        }
        self.copy(done..self.glyphs.len());
    }

    /// The next word at or after a place: letters, digits and signs in a row, or a row of
    /// indicators.
    fn word_from(&self, place: usize) -> Option<Range<usize>> {
        let is_part = |glyph: &Glyph| matches!(glyph.kind, Kind::Plain | Kind::Sign);
        let is_mere_sign = |glyph: &Glyph| glyph.kind == Kind::Sign && is_inner_sign(glyph.c);
        let mut start = place;
        while let Some(glyph) = self.glyphs.get(start) {
            let rest = &self.glyphs[start..];
            if glyph.kind == Kind::Indicator {
                let length = rest
                    .iter()
                    .take_while(|g| g.kind == Kind::Indicator)
                    .count();
                if length >= INDICATORS {
                    return Some(start..start + length);
                }
                start += length;
            } else if is_part(glyph)
                && !(is_mere_sign(glyph)
                    && rest
                        .get(1)
                        .is_none_or(|next| !is_part(next) || is_mere_sign(next)))
            {
                let length = rest.iter().take_while(|g| is_part(g)).count();
                let marks = rest[..length]
                    .iter()
                    .rev()
                    .take_while(|g| is_mere_sign(g))
                    .count();
                return Some(start..start + length - marks);
            } else {
                start += 1;
            }
        }
        None
    }

    /// Whether digits among these glyphs may stand for letters: there are letters, and at most as
    /// many digits as others, or twice as many in a longer word.
    fn reads_as_letters(&self, glyphs: impl Iterator<Item = usize>) -> bool {
        let (mut letters, mut digits, mut signs) = (0, 0, 0);
        for at in glyphs {
            let Glyph { c, kind, .. } = self.glyphs[at];
            match kind {
                Kind::Sign if !c.is_alphabetic() => signs += 1,
                Kind::Plain if c.is_numeric() => digits += 1,
                Kind::Plain | Kind::Sign | Kind::Indicator | Kind::Between => letters += 1,
            }
        }
        let others = letters + signs;
        letters > 0 && (others >= digits || (others + digits >= LONG_WORD && 2 * others >= digits))
    }

    /// Copies what is between words.
    fn copy(&mut self, glyphs: Range<usize>) {
        for at in glyphs {
            self.push(at, self.as_written(at), true, true);
        }
    }

    /// The character itself, if it is not read as a letter.
    fn as_written(&self, at: usize) -> char {
        let Glyph { c, from, kind, .. } = self.glyphs[at];
        let written = || self.folded[from as usize..].chars().next().unwrap_or(c);
        if kind == Kind::Plain { c } else { written() }
    }

    /// Copies a word, with letters for digits if it reads as letters. Digits and signs before or
    /// after the letters may not belong to it: "word123".
    fn copy_word(&mut self, word: Range<usize>) {
        let is_outside = |glyph: &&Glyph| {
            glyph.c.is_ascii_digit() || (glyph.kind == Kind::Sign && is_inner_sign(glyph.c))
        };
        let glyphs = &self.glyphs[word.clone()];
        let first = word.start + glyphs.iter().take_while(is_outside).count();
        let last = word.end - glyphs.iter().rev().take_while(is_outside).count();
        let inside = first..last.max(first);
        let reads_whole = self.reads_as_letters(word.clone());
        let reads_inside = reads_whole || self.reads_as_letters(inside.clone());
        for at in word.clone() {
            let reads = reads_whole || (reads_inside && inside.contains(&at));
            let c = if reads {
                self.letter(at)
            } else {
                self.as_written(at)
            };
            let starts = at == word.start || at == first || self.is_free(at - 1, at);
            let ends = at + 1 == word.end || at + 1 == last || self.is_free(at, at + 1);
            self.push(at, c, starts, ends);
        }
    }

    /// Whether a word may end between two neighbours in scripts without spaces.
    fn is_free(&self, left: usize, right: usize) -> bool {
        is_unspaced(self.glyphs[left].c) || is_unspaced(self.glyphs[right].c)
    }

    /// The letter that a glyph stands for.
    fn letter(&mut self, at: usize) -> char {
        let c = self.glyphs[at].c;
        let Some(letter) = letter(c, self.choice) else {
            return c;
        };
        self.is_ambiguous |= is_ambiguous(c);
        letter
    }

    /// Adds a character, or lengthens the run that it continues. Only letters and spaces form runs.
    fn push(&mut self, at: usize, c: char, starts: bool, ends: bool) {
        let Glyph { from, to, .. } = self.glyphs[at];
        let loose = &mut *self.loose;
        let continues = (c.is_alphabetic() || c == ' ') && loose.text.ends_with(c);
        if !continues {
            loose.text.push(c);
            let cell = Cell {
                from,
                to,
                run: 1,
                starts,
                ends,
            };
            loose.cells.resize(loose.text.len(), cell);
            return;
        }
        let first = loose.cells.len() - c.len_utf8();
        for cell in &mut loose.cells[first..] {
            cell.to = to;
            cell.run = cell.run.saturating_add(1);
            cell.ends = ends;
        }
    }
}
