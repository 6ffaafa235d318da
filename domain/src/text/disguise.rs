//! A quick look whether a text could read differently when read loosely. Almost none does, and this is ten times
//! faster than reading it.

use super::loose::{is_sign, is_stretched};

/// Whether a loose reading may differ: a digit or sign beside a letter, a stretched letter, or single letters in a
/// row. Never false where [`super::Loose::differs`].
pub(super) fn may_be_disguised(folded: &str) -> bool {
    let (mut last, mut run) = (' ', 0_u8);
    let (mut length, mut singles) = (0_usize, 0_usize);
    for c in folded.chars() {
        // Some of these are parts of words and others are not; they are rare enough not to ask here.
        if !c.is_ascii() && !c.is_alphanumeric() {
            return true;
        }
        run = if c == last { run.saturating_add(1) } else { 1 };
        let stretched = run > 1 && (c.is_alphabetic() || c == ' ') && is_stretched(c, run);
        // A `!` or `|` after a letter ends a word more often than it spells one; if it does not, more follows.
        let beside = match c {
            '@' | '$' => last.is_alphanumeric() || is_sign(last),
            _ if c.is_alphabetic() => last.is_numeric() || is_sign(last),
            _ if c.is_numeric() => last.is_alphabetic() || is_sign(last),
            _ => false,
        };
        if stretched || beside {
            return true;
        }
        if c.is_alphanumeric() || matches!(c, '@' | '$') {
            length += 1;
            // Two single letters, and a third character that may be one: the loose reading will tell.
            if length == 1 && singles >= 2 {
                return true;
            }
        } else {
            match length {
                0 => {}
                1 => singles += 1,
                2.. => singles = 0,
            }
            length = 0;
        }
        last = c;
    }
    false
}
