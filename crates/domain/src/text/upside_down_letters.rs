//! Letters that stand for others when a text is turned upside down.

/// What stands for the letters of the alphabet when it is turned upside down.
const SHOWN: [&str; 26] = [
    "ɐⱯ∀",
    "qᗺ",
    "ɔↃƆ",
    "pᗡ",
    "ǝƎ",
    "ɟℲ",
    "ƃᵷᘓ⅁פ",
    "ɥH",
    "ᴉıI",
    "ɾſ",
    "ʞ⋊Ʞ",
    "lꞁ˥⅂ןʃ",
    "ɯƜW",
    "uN",
    "oO",
    "dԀ",
    "bὉΌ",
    "ɹᴚ",
    "sS",
    "ʇ┴⊥Ʇ",
    "n∩",
    "ʌΛ",
    "ʍM",
    "xX",
    "ʎ⅄",
    "zZ",
];

/// Whether it is a letter that is used upside down only, or nearly so.
pub(super) fn is_turned(c: char) -> bool {
    "ɐⱯ∀ᗺɔↃƆᗡǝƎɟℲƃᵷ⅁ɥᴉɾʞ⋊Ʞꞁ˥⅂ɯɹᴚʇ┴⊥Ʇʌʍʎ⅄".contains(c)
}

/// What a character is when the text is turned; `None` for letters and digits that nobody can read so.
pub(super) fn turned(c: char) -> Option<char> {
    let letter = ('a'..='z').zip(SHOWN).find(|(_, shown)| shown.contains(c));
    match c {
        '0' | '8' => Some(c),
        '6' => Some('9'),
        '9' => Some('6'),
        '¡' => Some('!'),
        '¿' => Some('?'),
        '˙' => Some('.'),
        _ => letter
            .map(|(letter, _)| letter)
            .or((!c.is_alphanumeric()).then_some(c)),
    }
}
