//! Reads a folded text loosely: words first, then what lies between them.

use std::ops::Range;

use super::{Cell, Choice, Loose, drawn, indicator, is_ambiguous, is_inner_sign, is_sign, letter};
use crate::text::{
    fold::position,
    word_boundary::{is_unspaced, joined},
};

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

/// A character of the folded text, or several that draw a letter.
#[derive(Clone, Copy)]
struct Glyph {
    /// What it reads as: a drawn letter, an indicator's letter, or the character itself.
    c: char,
    from: u32,
    to: u32,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter, digit or mark that stands for itself.
    Plain,
    /// A sign for a letter, or several that draw one.
    Sign,
    Indicator,
    Between,
}

fn glyphs(folded: &str, window: Range<usize>) -> Vec<Glyph> {
    let mut glyphs = Vec::with_capacity(window.len());
    let mut at = window.start;
    while let Some(c) = folded[at..window.end].chars().next() {
        let plain = |kind| (c, c.len_utf8(), kind);
        let (c, length, kind) = if c.is_ascii_alphanumeric() {
            plain(Kind::Plain)
        } else if c == ' ' {
            plain(Kind::Between)
        } else if let Some((drawn, length)) = drawn(&folded[at..window.end]) {
            (drawn, length, Kind::Sign)
        } else if is_sign(c) {
            plain(Kind::Sign)
        } else if let Some(letter) = indicator(c) {
            (letter, c.len_utf8(), Kind::Indicator)
        } else if c.is_alphanumeric() || joined(Some(c), Some('a')) {
            plain(Kind::Plain)
        } else {
            plain(Kind::Between)
        };
        glyphs.push(Glyph {
            c,
            from: position(at),
            to: position(at + length),
            kind,
        });
        at += length;
    }
    glyphs
}

/// Signs that stand between words, sentences and the parts of hosts and numbers.
fn is_stop(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '?' | '!' | '/' | '&' | '"' | '(' | ')' | '…'
    ) || (!c.is_ascii() && !is_symbol(c))
}

/// Symbols and pictures, which do not occur in ordinary words.
fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '·' | '•' | '°' | '¬' | '¦' | '¤' | '\u{2190}'..='\u{2BFF}'
    ) || c >= '\u{1F000}'
}

impl Reading<'_> {
    /// Whether a word continues after a gap: "bl*ock", "st.upid". Full stops and similar signs also
    /// separate sentences and hosts, so they count only if one of the parts cannot be a word.
    fn is_joined(&self, gap: Range<usize>, next: &Range<usize>) -> bool {
        if gap.start == 0 || !self.may_separate(gap.clone()) {
            return false;
        }
        let end = gap.start;
        let is_part = |glyph: &&Glyph| glyph.kind != Kind::Between;
        let length = self.glyphs[..end].iter().rev().take_while(is_part).count();
        let parts = [end - length..end, next.clone()];
        let has_letter = |part: &Range<usize>| {
            self.glyphs[part.clone()]
                .iter()
                .any(|g| g.c.is_alphabetic())
        };
        parts.iter().all(has_letter)
            && self
                .signs(gap)
                .all(|c| !is_stop(c) || parts.iter().any(|part| self.is_no_word(part.clone())))
            && !self.signs(end..next.start).any(|c| c == ' ')
    }

    /// Whether it is a single letter, or only Latin consonants.
    fn is_no_word(&self, part: Range<usize>) -> bool {
        part.len() == 1
            || self
                .signs(part)
                .all(|c| c.is_ascii_alphabetic() && !matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y'))
    }
}

/// The fewest single letters in a row that are read as a spelled-out word.
const SPELLED_LETTERS: usize = 3;

/// The same, if the separators differ.
const SPELLED_UNEVENLY: usize = 4;

/// The widest separation of letters, in characters: "b - l - o".
const WIDEST_GAP: usize = 3;

impl Reading<'_> {
    /// The single letters in a row from a word on: three with equal separators, or four with any.
    fn spelled_from(&self, first: Range<usize>) -> Vec<usize> {
        let letters = self.singles_from(first.clone(), true);
        if letters.len() >= SPELLED_LETTERS {
            return letters;
        }
        let mut letters = self.singles_from(first, false);
        if letters.len() < SPELLED_UNEVENLY {
            letters.clear();
        }
        letters
    }

    fn singles_from(&self, first: Range<usize>, evenly: bool) -> Vec<usize> {
        let mut letters = Vec::new();
        let mut before: Option<Range<usize>> = None;
        let mut word = Some(first);
        while let Some(single) = word.filter(|word| word.len() == 1) {
            if let Some(&last) = letters.last() {
                let gap = last + 1..single.start;
                let is_alike =
                    before.is_none_or(|before| self.signs(before).eq(self.signs(gap.clone())));
                let is_wide = gap.len() > 1 && self.signs(gap.clone()).all(|c| c == ' ');
                if !self.may_separate(gap.clone()) || (!is_alike && (evenly || is_wide)) {
                    break;
                }
                before = Some(gap);
            }
            letters.push(single.start);
            word = self.word_from(single.end);
        }
        letters
    }

    fn signs(&self, gap: Range<usize>) -> impl Iterator<Item = char> {
        self.glyphs[gap].iter().map(|glyph| glyph.c)
    }

    /// Whether a gap can separate the letters of one word: it is short, and contains no apostrophe.
    fn may_separate(&self, gap: Range<usize>) -> bool {
        (1..=WIDEST_GAP).contains(&gap.len()) && !self.signs(gap).any(|c| c == '\'')
    }

    /// Takes spelled-out letters as one word. The word begins at the first letter, or after a
    /// leading "a" or "i", which are words of their own, or at a space among other separators. The
    /// end works the same way.
    fn join(&mut self, letters: &[usize]) {
        let is_own_word = |at: usize| matches!(self.glyphs[at].c, 'a' | 'i');
        let last = letters.len() - 1;
        let own_first = is_own_word(letters[0]);
        let own_last = is_own_word(letters[last]);
        let is_space = |nth: usize| {
            self.signs(letters[nth] + 1..letters[nth + 1])
                .any(|c| c == ' ')
        };
        let spaces: Vec<bool> = (0..last).map(is_space).collect();
        let is_mixed = spaces.contains(&true) && spaces.contains(&false);
        for (nth, &at) in letters.iter().enumerate() {
            let c = self.letter(at);
            let starts = nth == 0 || (nth == 1 && own_first) || (is_mixed && spaces[nth - 1]);
            let ends = nth == last || (nth + 1 == last && own_last) || (is_mixed && spaces[nth]);
            self.push(at, c, starts, ends);
        }
    }
}
