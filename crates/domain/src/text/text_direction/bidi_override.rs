//! Text between a control that overrides the direction and its end. Everything in it is shown from
//! right to left (RLO), or from left to right (LRO), whatever its letters are (UAX 9).

use icu_properties::props::{BidiClass, EnumeratedProperty as _};

use super::{Read, add};
use crate::text::invisible_characters::is_invisible;

/// How deep overrides may lie in each other. UAX 9 allows 125. No text needs more than two.
const DEEPEST: usize = 8;

/// The reading of a control.
enum Control {
    /// It begins a part, which another direction may override.
    Begin(Option<Direction>),
    End,
    /// The end of a paragraph ends all parts.
    EndAll,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    LeftToRight,
    RightToLeft,
}

impl Control {
    fn of(c: char) -> Option<Self> {
        Some(match c {
            '\u{202A}' | '\u{202B}' | '\u{2066}'..='\u{2068}' => Self::Begin(None),
            '\u{202D}' => Self::Begin(Some(Direction::LeftToRight)),
            '\u{202E}' => Self::Begin(Some(Direction::RightToLeft)),
            '\u{202C}' | '\u{2069}' => Self::End,
            '\n' | '\r' | '\u{85}' | '\u{2029}' => Self::EndAll,
            _ => return None,
        })
    }
}

/// Adds all such parts in the order in which they are shown.
pub(super) fn read(original: &str, read: &mut Vec<Read>) {
    // The level of each part that is open: 0 is not overridden, an odd one is shown from right to left.
    let mut open: Vec<usize> = Vec::new();
    // Controls that were too deep.
    let mut ignored = 0_usize;
    let mut part: Vec<(usize, Read)> = Vec::new();
    for (at, c) in original.char_indices() {
        let level = open.last().copied().unwrap_or_default();
        match Control::of(c) {
            Some(Control::Begin(_)) if open.len() >= DEEPEST => ignored += 1,
            Some(Control::Begin(None)) => open.push(level),
            Some(Control::Begin(Some(Direction::RightToLeft))) => open.push((level + 1) | 1),
            Some(Control::Begin(Some(Direction::LeftToRight))) => open.push((level + 2) & !1),
            Some(Control::End) if ignored > 0 => ignored -= 1,
            Some(Control::End) => drop(open.pop()),
            Some(Control::EndAll) => {
                ignored = 0;
                open.clear();
            }
            None if level > 0 && !is_invisible(c) => part.push((level, (at, c, c))),
            None => {}
        }
        if open.last().is_none_or(|level| *level == 0) {
            finish(&mut part, read);
        }
    }
    finish(&mut part, read);
}

/// Adds a part as it is shown, if that differs from how it is written.
fn finish(part: &mut Vec<(usize, Read)>, read: &mut Vec<Read>) {
    let mut letters = part.iter().map(|(_, (_, c, _))| BidiClass::for_char(*c));
    let is_rtl = |class| matches!(class, BidiClass::RightToLeft | BidiClass::ArabicLetter);
    let first = letters.find(|class| is_rtl(*class) || *class == BidiClass::LeftToRight);
    // Readers of Hebrew and Arabic begin on the right.
    let own = usize::from(first.is_some_and(is_rtl));
    let deepest = part.iter().map(|(level, _)| *level).max();
    for least in (1..=deepest.unwrap_or_default() + own).rev() {
        for run in part.chunk_by_mut(|one, next| (one.0 + own >= least) == (next.0 + own >= least))
        {
            if run[0].0 + own >= least {
                run.reverse();
            }
        }
    }
    let is_moved = !part.is_sorted_by_key(|(_, (at, _, _))| *at);
    let mut shown: Vec<Read> = part.drain(..).map(|(_, read)| read).collect();
    if is_moved {
        add(&mut shown, read);
    }
}
