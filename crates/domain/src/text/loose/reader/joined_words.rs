//! Whether a word continues after a sign in it: "bl*ock", "st.upid".

use std::ops::Range;

use super::Reading;
use super::glyph::{Glyph, Kind};

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
    pub(super) fn is_joined(&self, gap: Range<usize>, next: &Range<usize>) -> bool {
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
