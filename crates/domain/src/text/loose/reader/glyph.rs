//! A folded text as glyphs: characters, and groups of signs that draw a letter.

use std::ops::Range;

use crate::text::fold::position;
use crate::text::loose::leet::{drawn, indicator, is_sign};
use crate::text::word_boundary::joined;

/// A character of the folded text, or several that draw a letter.
#[derive(Clone, Copy)]
pub(super) struct Glyph {
    /// What it reads as: a drawn letter, an indicator's letter, or the character itself.
    pub(super) c: char,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A letter, digit or mark that stands for itself.
    Plain,
    /// A sign for a letter, or several that draw one.
    Sign,
    Indicator,
    Between,
}

pub(super) fn glyphs(folded: &str, window: Range<usize>) -> Vec<Glyph> {
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
