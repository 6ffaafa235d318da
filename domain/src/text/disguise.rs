//! A quick look whether a text could read differently when read loosely. Almost none does, and this is ten times
//! faster than reading it.

use super::loose::{is_sign, is_stretched};

/// Whether a loose reading may differ: a digit or sign beside a letter, a stretched letter, or single letters in a
/// row. Never false where [`super::Loose::differs`].
pub(super) fn may_be_disguised(folded: &str) -> bool {
    let (mut last, mut run) = (' ', 0_u8);
    let (mut length, mut singles) = (0_usize, 0_usize);
    for c in folded.chars() {
        run = if c == last { run.saturating_add(1) } else { 1 };
        let stretched = run > 1 && (c.is_alphabetic() || c == ' ') && is_stretched(c, run);
        // A sign after a letter ends a word more often than it spells one; if it does not, a letter follows it.
        let beside =
            (c.is_alphabetic() && is_leet(last)) || (c.is_numeric() && last.is_alphabetic());
        let sign_beside = matches!(c, '@' | '$' | '€') && last.is_alphanumeric();
        if stretched || beside || sign_beside {
            return true;
        }
        if c.is_alphanumeric() || matches!(c, '@' | '$' | '€') {
            length += 1;
            // The third single letter, or the first character of a longer word after two: the next tells.
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

const fn is_leet(c: char) -> bool {
    c.is_ascii_digit() || is_sign(c)
}
