//! Finds quickly where a text could read differently when it is read loosely. Few texts do, and
//! only in a few places.

use std::ops::Range;

use super::loose::{is_outer_sign, is_stretched};

/// The longest distance, in bytes, between the first and the last of three spelled-out letters, and
/// between a sign and its word.
const SPOT: usize = 32;

/// The parts of a folded text that could read differently, each with `reach` bytes on either side,
/// in their order and without overlaps. Every match of at most `reach` bytes on a loose reading of
/// the whole text lies within one of them.
pub(super) fn windows(folded: &str, reach: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    let reach = reach.saturating_add(SPOT);
    spots(folded, |at| add(&mut windows, folded, at..at, reach));
    on_boundaries(folded, windows)
}

/// The places in a folded text, each with `reach` bytes on either side, in their order and without
/// overlaps.
pub(super) fn around(folded: &str, places: &[Range<usize>], reach: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for place in places {
        add(&mut windows, folded, place.clone(), reach);
    }
    on_boundaries(folded, windows)
}

fn add(windows: &mut Vec<Range<usize>>, folded: &str, place: Range<usize>, reach: usize) {
    let start = place.start.saturating_sub(reach);
    let end = place.end.saturating_add(reach).min(folded.len());
    match windows.last_mut() {
        Some(last) if start <= last.end => last.end = end,
        Some(_) | None => windows.push(start..end),
    }
}

fn on_boundaries(folded: &str, mut windows: Vec<Range<usize>>) -> Vec<Range<usize>> {
    for window in &mut windows {
        window.start = folded.floor_char_boundary(window.start);
        window.end = folded.ceil_char_boundary(window.end);
    }
    windows
}

/// Visits the places where the readings may differ, in their order: a digit or sign beside a
/// letter, signs inside a word, a stretched letter, single letters in a row.
fn spots(folded: &str, mut visit: impl FnMut(usize)) {
    let mut before = Seen {
        c: ' ',
        kind: Kind::Space,
    };
    let mut run = 0_u8;
    // The length of the current word, and the number of single letters before it.
    let (mut length, mut singles) = (0_usize, 0_usize);
    // The kind before the marks that are being read.
    let mut outside = Kind::Space;
    for (at, c) in folded.char_indices() {
        let kind = Kind::of(c);
        // The usual case in most texts.
        if kind == Kind::Letter && before.kind == Kind::Letter && c != before.c {
            (before.c, run) = (c, 1);
            length += 1;
            continue;
        }
        run = if c == before.c {
            run.saturating_add(1)
        } else {
            1
        };
        let is_stretched =
            run > 1 && matches!(kind, Kind::Letter | Kind::Space) && is_stretched(c, run);
        let is_beside = match (before.kind, kind) {
            (Kind::Letter | Kind::Sign, Kind::Digit)
            | (Kind::Letter | Kind::Digit | Kind::Sign | Kind::Mark, Kind::Sign)
            | (Kind::Digit | Kind::Sign, Kind::Letter)
            | (_, Kind::Symbol) => true,
            (Kind::Mark, Kind::Letter) => outside != Kind::Space,
            (Kind::Mark, Kind::Digit) => matches!(outside, Kind::Letter | Kind::Sign),
            (Kind::Mark, Kind::Mark) => is_stroke(before.c) || is_stroke(c),
            (
                _,
                Kind::Letter
                | Kind::Digit
                | Kind::Sign
                | Kind::Mark
                | Kind::Apostrophe
                | Kind::Space,
            ) => false,
        };
        if before.kind != Kind::Mark {
            outside = before.kind;
        }
        match kind {
            Kind::Letter | Kind::Digit | Kind::Sign => length += 1,
            Kind::Mark | Kind::Symbol | Kind::Apostrophe | Kind::Space => {
                match length {
                    0 => {}
                    1 => singles += 1,
                    2.. => singles = 0,
                }
                length = 0;
            }
        }
        if is_stretched || is_beside || (length == 1 && singles >= 2) {
            visit(at);
        }
        before = Seen { c, kind };
    }
}

/// Signs that people draw letters with.
const fn is_stroke(c: char) -> bool {
    matches!(c, '|' | '/' | '\\' | '<' | '>' | '_')
}

struct Seen {
    c: char,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Sign,
    /// Any other ASCII sign, including signs that are letters only inside a word.
    Mark,
    /// Any other character, including pictures.
    Symbol,
    Apostrophe,
    Space,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Letter,
            ' ' => Self::Space,
            '0'..='9' => Self::Digit,
            '\'' => Self::Apostrophe,
            _ if is_outer_sign(c) => Self::Sign,
            _ if c.is_ascii() => Self::Mark,
            _ if c.is_numeric() => Self::Digit,
            _ if c.is_alphanumeric() => Self::Letter,
            _ => Self::Symbol,
        }
    }
}
