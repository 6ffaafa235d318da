//! The loose reading: whole words behind digits, spaces and stretched letters ("bl0ck3d", "b.l.o.c.k", "blooock").
//!
//! It is for whole words only. Every undoing here is one that ordinary text rarely needs, and each is bounded: digits
//! are letters only in words with at least as many letters, single letters are joined only from three on, and
//! stretched letters count as one only where nobody spells so ("good" is not "god").

use std::ops::Range;

use super::boundary::joined;
use super::fold::position;

/// What a `1`, `!` or `|` within a word stands for; both are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum One {
    /// As in `sh1t`.
    IsI,
    /// As in `k1ll`, the second reading.
    IsL,
}

/// The loose reading of a folded text: each run of one letter is a single letter with its length beside it.
pub(crate) struct Loose {
    text: String,
    /// One for each byte of `text`.
    cells: Vec<Cell>,
    differs: bool,
    ambiguous: bool,
}

#[derive(Clone, Copy)]
struct Cell {
    /// The bytes of the folded text that it stands for.
    from: u32,
    to: u32,
    /// How often the letter stands there, at most 255.
    run: u8,
    /// Whether a word may begin before it, and end after it.
    starts: bool,
    ends: bool,
}

/// A character of the folded text.
#[derive(Clone, Copy)]
struct Glyph {
    c: char,
    from: u32,
    to: u32,
}

/// The fewest single letters in a row that are read as a spelled-out word.
const SPELLED_LETTERS: usize = 3;
/// The widest separation of spelled-out letters, in characters: "b - l - o".
const WIDEST_GAP: usize = 3;

impl Loose {
    /// Reads a folded text loosely.
    pub(crate) fn new(folded: &str, one: One) -> Self {
        let glyphs: Vec<Glyph> = folded
            .char_indices()
            .map(|(at, c)| Glyph {
                c,
                from: position(at),
                to: position(at + c.len_utf8()),
            })
            .collect();
        let mut reading = Reading {
            glyphs: &glyphs,
            one,
            loose: Self {
                text: String::with_capacity(folded.len()),
                cells: Vec::with_capacity(folded.len()),
                differs: false,
                ambiguous: false,
            },
        };
        reading.read();
        reading.loose
    }

    /// The text in which terms are looked for.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether anything was undone that the folded reading does not show.
    pub(crate) const fn differs(&self) -> bool {
        self.differs
    }

    /// Whether a `1` was read as a letter, so that the other [`One`] reads differently.
    pub(crate) const fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// How often each letter of the text is repeated, for each byte.
    pub(crate) fn runs(&self) -> Box<[u8]> {
        self.cells.iter().map(|cell| cell.run).collect()
    }

    /// Whether a whole word or phrase with the repetitions `runs` stands at a place.
    pub(crate) fn holds_word(&self, at: Range<usize>, runs: &[u8]) -> bool {
        let cells = &self.cells[at.clone()];
        cells.first().is_some_and(|cell| cell.starts)
            && cells.last().is_some_and(|cell| cell.ends)
            && cells
                .iter()
                .zip(self.text.as_bytes()[at].iter())
                .zip(runs)
                .all(|((cell, byte), run)| {
                    cell.run == *run
                        || (cell.run > *run && is_stretched(char::from(*byte), cell.run))
                })
    }

    /// The bytes of the folded text that a non-empty range stands for.
    pub(crate) fn folded_span(&self, at: Range<usize>) -> Range<usize> {
        self.cells[at.start].from as usize..self.cells[at.end - 1].to as usize
    }
}

/// Whether nobody spells a letter so often in a row: three times, or twice where words do not double it. Only ASCII
/// has the latter, so any byte of a longer character will do for it.
pub(super) const fn is_stretched(c: char, run: u8) -> bool {
    match c {
        ' ' | 'a' | 'h' | 'i' | 'j' | 'q' | 'u' | 'v' | 'w' | 'x' | 'y' => run >= 2,
        _ => run >= 3,
    }
}

/// The letter that a digit or sign within a word stands for.
const fn leet(c: char, one: One) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' | '|' => match one {
            One::IsI => 'i',
            One::IsL => 'l',
        },
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => return None,
    })
}

/// Signs that stand for letters. The last two end sentences and columns too, so they count only inside a word.
pub(super) const fn is_sign(c: char) -> bool {
    matches!(c, '@' | '$' | '€' | '!' | '|')
}

struct Reading<'a> {
    glyphs: &'a [Glyph],
    one: One,
    loose: Loose,
}

impl Reading<'_> {
    fn read(&mut self) {
        let mut done = 0;
        let mut next = self.word_from(0);
        while let Some(word) = next {
            let (letters, after) = self.spelled_from(word.clone());
            self.copy(done..word.start);
            if letters.len() < SPELLED_LETTERS {
                self.copy_word(word.clone());
                done = word.end;
                next = self.word_from(done);
                continue;
            }
            done = letters[letters.len() - 1] + 1;
            next = after;
            if self.reads_as_letters(letters.iter().copied()) {
                self.join(&letters);
            } else {
                self.copy(word.start..done);
            }
        }
        self.copy(done..self.glyphs.len());
    }

    /// The next word at or after a place: letters, digits and signs in a row.
    fn word_from(&self, place: usize) -> Option<Range<usize>> {
        let is_part = |glyph: &Glyph| {
            joined(Some(glyph.c), Some('a')) || glyph.c.is_alphanumeric() || is_sign(glyph.c)
        };
        let is_mere_sign = |glyph: &Glyph| matches!(glyph.c, '!' | '|');
        let rest = &self.glyphs[place..];
        let start = place + rest.iter().position(|g| is_part(g) && !is_mere_sign(g))?;
        let rest = &self.glyphs[start..];
        let length = rest.iter().position(|g| !is_part(g)).unwrap_or(rest.len());
        let marks = rest[..length]
            .iter()
            .rev()
            .take_while(|g| is_mere_sign(g))
            .count();
        Some(start..start + length - marks)
    }

    /// The single letters that follow one another from a word on, evenly separated, and the word after them.
    fn spelled_from(&self, first: Range<usize>) -> (Vec<usize>, Option<Range<usize>>) {
        let mut letters = Vec::new();
        let mut word = Some(first);
        let mut gap: Option<Range<usize>> = None;
        while let Some(letter) = word.clone().filter(|word| word.len() == 1) {
            if let Some(&last) = letters.last() {
                let between = last + 1..letter.start;
                if !self.is_gap(between.clone(), gap.as_ref()) {
                    break;
                }
                gap = Some(between);
            }
            letters.push(letter.start);
            word = self.word_from(letter.end);
        }
        (letters, word)
    }

    /// Whether a stretch separates spelled-out letters: short, no apostrophe, and like the one before.
    fn is_gap(&self, between: Range<usize>, before: Option<&Range<usize>>) -> bool {
        let gap = &self.glyphs[between];
        (1..=WIDEST_GAP).contains(&gap.len())
            && !gap.iter().any(|glyph| matches!(glyph.c, '\'' | '’'))
            && before.is_none_or(|before| {
                gap.iter()
                    .map(|g| g.c)
                    .eq(self.glyphs[before.clone()].iter().map(|g| g.c))
            })
    }

    /// Whether digits among these glyphs may stand for letters: there are letters, and no more digits than others.
    fn reads_as_letters(&self, glyphs: impl Iterator<Item = usize>) -> bool {
        let (mut letters, mut digits, mut signs) = (0, 0, 0);
        for at in glyphs {
            match self.glyphs[at].c {
                c if c.is_numeric() => digits += 1,
                c if is_sign(c) => signs += 1,
                _ => letters += 1,
            }
        }
        letters > 0 && letters + signs >= digits
    }

    /// Takes glyphs as they are.
    fn copy(&mut self, glyphs: Range<usize>) {
        for at in glyphs {
            self.push(at, self.glyphs[at].c, self.starts(at), self.ends(at));
        }
    }

    /// Takes a word, with letters for digits where it reads as letters.
    fn copy_word(&mut self, word: Range<usize>) {
        if !self.reads_as_letters(word.clone()) {
            return self.copy(word);
        }
        for at in word {
            let c = self.letter(at);
            self.push(at, c, self.starts(at), self.ends(at));
        }
    }

    /// Takes spelled-out letters as one word. It begins at the first letter, or after a leading "a" or "i", which
    /// are words of their own; likewise at the end.
    fn join(&mut self, letters: &[usize]) {
        let is_own_word = |at: usize| matches!(self.glyphs[at].c, 'a' | 'i');
        let last = letters.len() - 1;
        let own_first = is_own_word(letters[0]);
        let own_last = is_own_word(letters[last]);
        for (nth, &at) in letters.iter().enumerate() {
            let c = self.letter(at);
            let starts = nth == 0 || (nth == 1 && own_first);
            let ends = nth == last || (nth + 1 == last && own_last);
            self.push(at, c, starts, ends);
        }
        self.loose.differs = true;
    }

    /// The letter that a glyph stands for.
    fn letter(&mut self, at: usize) -> char {
        let c = self.glyphs[at].c;
        let Some(letter) = leet(c, self.one) else {
            return c;
        };
        self.loose.differs = true;
        self.loose.ambiguous |= matches!(c, '1' | '!' | '|');
        letter
    }

    fn starts(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.glyphs[before].c);
        !joined(before, Some(self.glyphs[at].c))
    }

    fn ends(&self, at: usize) -> bool {
        !joined(
            Some(self.glyphs[at].c),
            self.glyphs.get(at + 1).map(|after| after.c),
        )
    }

    /// Adds a character, or lengthens the run that it continues. Only letters and spaces form runs.
    fn push(&mut self, at: usize, c: char, starts: bool, ends: bool) {
        let Glyph { from, to, .. } = self.glyphs[at];
        let loose = &mut self.loose;
        let continues = (c.is_alphabetic() || c == ' ') && loose.text.ends_with(c);
        if !continues {
            loose.text.push(c);
            loose.cells.resize(
                loose.text.len(),
                Cell {
                    from,
                    to,
                    run: 1,
                    starts,
                    ends,
                },
            );
            return;
        }
        let first = loose.cells.len() - c.len_utf8();
        for cell in &mut loose.cells[first..] {
            cell.to = to;
            cell.run = cell.run.saturating_add(1);
            cell.ends = ends;
            loose.differs |= is_stretched(c, cell.run);
        }
    }
}

#[cfg(test)]
mod tests;
