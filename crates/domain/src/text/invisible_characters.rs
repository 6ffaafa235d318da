//! Characters without ink or width, which split a word only for a machine.

use icu_properties::props::{
    BinaryProperty as _, DefaultIgnorableCodePoint, EnumeratedProperty as _, GeneralCategory,
};

/// Whether a character has neither ink nor width, by the data of Unicode: what may be ignored when it is
/// displayed, controls of formats and of terminals, and two letters that are only room.
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !is_space(c);
    }
    match GeneralCategory::for_char(c) {
        GeneralCategory::Format => !is_visible_format(c),
        GeneralCategory::Control => c != '\u{85}',
        _ => DefaultIgnorableCodePoint::for_char(c) || matches!(c, '\u{16FE4}' | '\u{1D159}'),
    }
}

/// Whether a character is seen as a space or a new line.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}'
}

/// Signs before numbers, which enclose them (`Prepended_Concatenation_Mark`).
const fn is_visible_format(c: char) -> bool {
    matches!(
        c,
        '\u{600}'
            ..='\u{605}'
                | '\u{6DD}'
                | '\u{70F}'
                | '\u{890}'
                | '\u{891}'
                | '\u{8E2}'
                | '\u{110BD}'
                | '\u{110CD}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_invisible() {
        for c in [
            '\u{8}',
            '\u{7F}',
            '\u{9F}',
            '\u{AD}',
            '\u{34F}',
            '\u{115F}',
            '\u{180E}',
            '\u{200B}',
            '\u{200D}',
            '\u{202E}',
            '\u{2063}',
            '\u{206A}',
            '\u{3164}',
            '\u{FE0F}',
            '\u{FEFF}',
            '\u{FFA0}',
            '\u{FFF0}',
            '\u{FFF9}',
            '\u{FFFA}',
            '\u{FFFB}',
            '\u{13430}',
            '\u{1BCA0}',
            '\u{1D159}',
            '\u{1D173}',
            '\u{E0001}',
            '\u{E0061}',
            '\u{E01EF}',
        ] {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in [
            'a', ' ', '\n', '\u{85}', '\u{A0}', '\u{2028}', '\u{3000}', '\u{600}', '\u{6DD}',
            '\u{FFFC}', '한', '\u{301}',
        ] {
            assert!(!is_invisible(c), "{c:?}");
        }
    }
}
