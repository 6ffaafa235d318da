//! Digits and signs that stand for letters.

/// The meaning of an ambiguous digit or sign within a word. Both readings are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As in `sh1t`.
    First,
    /// As in `k1ll`.
    Second,
}

/// The letter that a digit or sign within a word stands for.
pub(super) fn letter(c: char, choice: Choice) -> Option<char> {
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
pub(super) const fn is_ambiguous(c: char) -> bool {
    matches!(c, '1' | '!' | '|' | '¡' | '6' | '£')
}

/// Signs that stand for letters.
pub(super) const fn is_sign(c: char) -> bool {
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
pub(super) const fn is_inner_sign(c: char) -> bool {
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
pub(super) fn drawn(text: &str) -> Option<(char, usize)> {
    if !text.starts_with(['/', '\\', '|', '(', ')', '[', ']', '>']) {
        return None;
    }
    DRAWN
        .iter()
        .find(|(drawing, _)| text.starts_with(drawing))
        .map(|(drawing, letter)| (*letter, drawing.len()))
}

/// The letter of a regional indicator. Two of these make a flag.
pub(super) fn indicator(c: char) -> Option<char> {
    let number = u32::from(c)
        .checked_sub(0x1F1E6)
        .filter(|number| *number < 26)?;
    char::from_u32(u32::from('a') + number)
}
