//! The loose reading: whole words behind digits, separators and stretched letters ("bl0ck3d",
//! "b.l.o.c.k", "blooock").
//!
//! It is for whole words only. Ordinary text rarely needs these steps, and each step has a limit.
//! Digits are letters only in words with at least as many letters. Single letters are joined only
//! if there are three or more. Full stops are removed only beside something that cannot be a word.
//! Stretched letters count as one only if no spelling has them ("good" is not "god").

mod reader;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::attached_words::{is_begun, is_ended};

/// The loose reading of parts of a folded text: each run of one letter is a single letter, with its
/// length stored beside it.
#[derive(Default)]
pub(crate) struct Loose {
    text: String,
    /// One for each byte of `text`.
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    /// The bytes of the folded text that it stands for.
    from: u32,
    to: u32,
    /// The length of the run, at most 255.
    run: u8,
    /// Whether a word may begin before it, and end after it.
    starts: bool,
    ends: bool,
}

/// Separates windows. No term contains it, because folding turns whitespace into spaces.
const BREAK: char = '\n';

/// The loose readings of windows of a folded text: one reading, and a second one for windows in
/// which a `1` or similar could be another letter.
pub(crate) fn readings(folded: &str, windows: Vec<Range<usize>>) -> impl Iterator<Item = Loose> {
    let (first, ambiguous) = Loose::new(folded, windows, Choice::First);
    let (second, _) = Loose::new(folded, ambiguous, Choice::Second);
    [first, second]
        .into_iter()
        .filter(|loose| !loose.text.is_empty())
}

/// A part of a folded text, with the windows in it read loosely.
pub(super) fn part(
    folded: &str,
    part: &Range<usize>,
    windows: &[Range<usize>],
    choice: Choice,
) -> String {
    let mut read = String::with_capacity(part.len());
    let mut done = part.start;
    for window in windows {
        read.push_str(&folded[done..window.start]);
        let (loose, _) = Loose::new(folded, vec![window.clone()], choice);
        loose.spell(folded, &mut read);
        done = window.end;
    }
    read.push_str(&folded[done..part.end]);
    read
}

impl Loose {
    /// The reading of a term. Its digits and signs have their first meaning.
    pub(crate) fn of_term(folded: &str) -> Self {
        let whole = std::iter::once(0..folded.len()).collect();
        Self::new(folded, whole, Choice::First).0
    }

    /// Reads windows, and returns those that another choice reads differently.
    fn new(folded: &str, windows: Vec<Range<usize>>, choice: Choice) -> (Self, Vec<Range<usize>>) {
        let mut loose = Self::default();
        let mut ambiguous = windows;
        ambiguous.retain(|window| {
            loose.break_off();
            reader::read(folded, window.clone(), choice, &mut loose)
        });
        (loose, ambiguous)
    }

    fn break_off(&mut self) {
        if !self.text.is_empty() {
            self.text.push(BREAK);
            let nothing = Cell {
                from: 0,
                to: 0,
                run: 0,
                starts: false,
                ends: false,
            };
            self.cells.push(nothing);
        }
    }

    /// Writes the reading with its repeated letters. Three or more of one letter become one, and a
    /// pair remains: a reader knows "skiing". A space between two words that could be one remains:
    /// "a w.o.r.d".
    fn spell(&self, folded: &str, out: &mut String) {
        for (at, c) in self.text.char_indices() {
            if let Some(before) = at.checked_sub(1).map(|before| self.cells[before])
                && before.ends
                && self.cells[at].starts
                && folded[before.to as usize..self.cells[at].from as usize].contains(' ')
            {
                out.push(' ');
            }
            out.push(c);
            if self.cells[at].run == 2 {
                out.push(c);
            }
        }
    }

    /// The text to search for terms.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// For each byte, how often its letter is repeated.
    pub(crate) fn runs(&self) -> Box<[u8]> {
        self.cells.iter().map(|cell| cell.run).collect()
    }

    /// Whether a whole word or phrase with the repetitions `runs` stands at a place.
    pub(crate) fn holds_word(&self, at: Range<usize>, runs: &[u8]) -> bool {
        let cells = &self.cells[at.clone()];
        let is_start = |place: usize| self.cells.get(place).is_some_and(|cell| cell.starts);
        let is_end = |place: usize| {
            let last = place.checked_sub(1).and_then(|last| self.cells.get(last));
            last.is_some_and(|cell| cell.ends)
        };
        (is_start(at.start) || is_begun(&self.text, &at, is_start))
            && (is_end(at.end) || is_ended(&self.text, &at, is_end))
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

/// Whether no spelling repeats a letter so often: three times, or twice if words do not double it.
/// The second rule concerns only ASCII letters, so any byte of a longer character will do.
pub(super) const fn is_stretched(c: char, run: u8) -> bool {
    match c {
        ' ' | 'a' | 'h' | 'i' | 'j' | 'q' | 'u' | 'v' | 'w' | 'x' | 'y' => run >= 2,
        _ => run >= 3,
    }
}

/// The meaning of an ambiguous digit or sign within a word. Both readings are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As in `sh1t`.
    First,
    /// As in `k1ll`.
    Second,
}

/// The letter that a digit or sign within a word stands for.
fn letter(c: char, choice: Choice) -> Option<char> {
    let either = |first, second| match choice {
        Choice::First => first,
        Choice::Second => second,
    };
    Some(match c {
        '0' | '⭕' => 'o',
        '1' | '!' | '|' | '¡' => either('i', 'l'),
        '2' => 'z',
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' | '§' | '💲' => 's',
        '6' => either('b', 'g'),
        '7' | '+' | '†' => 't',
        '8' => 'b',
        '9' => 'g',
        '£' => either('e', 'l'),
        '#' => 'h',
        '¢' | '©' => 'c',
        '®' => 'r',
        '¥' => 'y',
        '❌' => 'x',
        _ => return None,
    })
}

/// Whether the other [`Choice`] reads differently.
const fn is_ambiguous(c: char) -> bool {
    matches!(c, '1' | '!' | '|' | '¡' | '6' | '£')
}

/// Signs that stand for letters.
const fn is_sign(c: char) -> bool {
    is_outer_sign(c) || is_inner_sign(c)
}

/// Signs that stand for letters wherever they touch a word.
pub(crate) const fn is_outer_sign(c: char) -> bool {
    matches!(
        c,
        '@' | '$' | '€' | '£' | '¢' | '¥' | '§' | '©' | '®' | '†' | '+' | '⭕' | '❌' | '💲'
    )
}

/// Signs that also end sentences, columns and names, and so count only inside a word.
const fn is_inner_sign(c: char) -> bool {
    matches!(c, '!' | '|' | '¡' | '#')
}

/// Letters drawn with several signs, longer drawings first.
const DRAWN: [(&str, char); 27] = [
    ("/\\/\\", 'm'),
    ("\\/\\/", 'w'),
    ("|\\/|", 'm'),
    ("|v|", 'm'),
    ("/v\\", 'm'),
    ("|\\|", 'n'),
    ("/\\/", 'n'),
    ("|_|", 'u'),
    ("(_)", 'u'),
    ("|-|", 'h'),
    ("]-[", 'h'),
    (")-(", 'h'),
    ("/-\\", 'a'),
    ("/\\", 'a'),
    ("\\/", 'v'),
    ("()", 'o'),
    ("[]", 'o'),
    ("|<", 'k'),
    ("|{", 'k'),
    ("|)", 'd'),
    ("[)", 'd'),
    ("|>", 'p'),
    ("|3", 'b'),
    ("|2", 'r'),
    ("|=", 'f'),
    ("|_", 'l'),
    ("><", 'x'),
];

/// A letter drawn with several signs at the beginning of a text, and the length of the drawing.
fn drawn(text: &str) -> Option<(char, usize)> {
    if !text.starts_with(['/', '\\', '|', '(', ')', '[', ']', '>']) {
        return None;
    }
    DRAWN
        .iter()
        .find(|(drawing, _)| text.starts_with(drawing))
        .map(|(drawing, letter)| (*letter, drawing.len()))
}

/// The letter of a regional indicator. Two of these make a flag.
fn indicator(c: char) -> Option<char> {
    let number = u32::from(c)
        .checked_sub(0x1F1E6)
        .filter(|number| *number < 26)?;
    char::from_u32(u32::from('a') + number)
}
