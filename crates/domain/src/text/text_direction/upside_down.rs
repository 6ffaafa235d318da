//! Words of upside-down letters, from the last letter to the first.

use super::{Read, add};

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
pub(in crate::text) fn is_turned(c: char) -> bool {
    "ɐⱯ∀ᗺɔↃƆᗡǝƎɟℲƃᵷ⅁ɥᴉɾʞ⋊Ʞꞁ˥⅂ɯɹᴚʇ┴⊥Ʇʌʍʎ⅄".contains(c)
}

/// What a character is when the text is turned; `None` for letters and digits that nobody can read so.
fn turned(c: char) -> Option<char> {
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

/// Adds all stretches of whole words of a line in which every letter can be turned and some are.
pub(super) fn read(original: &str, read: &mut Vec<Read>) {
    let mut stretch = Stretch::default();
    for (at, c) in original.char_indices() {
        if c == '\n' {
            stretch.finish(read);
        } else if let Some(letter) = turned(c) {
            stretch.push((at, c, letter));
        } else if c.is_alphanumeric() {
            stretch.word.is_other = true;
        }
        if !c.is_alphanumeric() && !is_turned(c) {
            stretch.end_word(read);
        }
    }
    stretch.finish(read);
}

/// Words that can be turned, one after another.
#[derive(Default)]
struct Stretch {
    whole: Vec<Read>,
    has_turned: bool,
    word: Word,
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    letters: Vec<Read>,
    has_turned: bool,
    /// Whether it has a letter that cannot be turned.
    is_other: bool,
}

impl Stretch {
    fn push(&mut self, letter: Read) {
        self.word.has_turned |= is_turned(letter.1);
        self.word.letters.push(letter);
    }

    fn end_word(&mut self, read: &mut Vec<Read>) {
        let word = std::mem::take(&mut self.word);
        if word.is_other {
            return self.finish(read);
        }
        self.has_turned |= word.has_turned;
        self.whole.extend(word.letters);
    }

    /// Ends the stretch, and adds it from its last letter to its first.
    fn finish(&mut self, read: &mut Vec<Read>) {
        if !self.word.letters.is_empty() {
            self.end_word(read);
        }
        let mut whole = std::mem::take(&mut self.whole);
        if std::mem::take(&mut self.has_turned) {
            whole.reverse();
            add(&mut whole, read);
        }
    }
}
