//! Letters that look like others, and signs that look like ASCII signs.
//!
//! Most come from the data of Unicode ([`unicode`], [`latin_variants`]). [`fancy_letters`] has what writers of fancy
//! text use in addition. The table here is small on purpose: it has letters of languages with many
//! readers that anybody mistakes for a Latin one at a glance, so they are read as such in every word.
//! NFKC has already folded what Unicode itself calls compatible (fullwidth, mathematical and circled
//! letters, ligatures).

mod fancy_letters;
mod latin_variants;
mod unicode;

use std::collections::HashMap;
use std::sync::LazyLock;

/// The ASCII text that a lower-case letter or a sign can pass for. Case is folded first. So a
/// letter whose capital alone looks Latin (Cyrillic `в`, `н`) is here, too: both cases must fold
/// alike.
#[expect(
    clippy::match_same_arms,
    reason = "the table goes by script, so that a reader can check it"
)]
pub(super) fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        // Latin relatives and small capitals that are not in the data of Unicode.
        'ʟ' => "l",
        'ᴅ' => "d",
        'ʜ' => "h",
        'ᴛ' => "t",
        'ᴀ' => "a",
        'ɢ' => "g",
        'ꜰ' => "f",
        'ə' | 'ɛ' | 'ᴇ' => "e",
        'ʙ' => "b",
        'ᴊ' => "j",
        'ᴋ' => "k",
        'ᴍ' => "m",
        'ɴ' => "n",
        'ᴘ' => "p",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ɬ' => "l",
        'ɾ' => "r",
        'ʋ' => "v",
        // Turned Latin letters.
        'ɐ' => "a",
        'ǝ' => "e",
        'ɟ' => "f",
        'ƃ' => "g",
        'ɥ' => "h",
        'ᴉ' => "i",
        'ʞ' => "k",
        'ɹ' => "r",
        'ʇ' => "t",
        'ʌ' => "v",
        'ʍ' => "w",
        'ʎ' => "y",
        // Cyrillic.
        'а' => "a",
        'в' | 'ь' => "b",
        'с' | 'ҫ' => "c",
        'ԁ' => "d",
        'е' | 'ҽ' => "e",
        'ғ' => "f",
        'ԍ' => "g",
        'һ' | 'н' => "h",
        'і' => "i",
        'ј' => "j",
        'к' => "k",
        'ӏ' => "l",
        'м' => "m",
        'о' | 'ө' => "o",
        'р' => "p",
        'ԛ' => "q",
        'ѕ' => "s",
        'т' => "t",
        'ѵ' => "v",
        'ԝ' => "w",
        'х' => "x",
        'у' | 'ү' => "y",
        // Greek.
        'α' => "a",
        'ϲ' => "c",
        'ϳ' => "j",
        'β' => "b",
        'ε' => "e",
        'η' => "n",
        'ι' => "i",
        'κ' => "k",
        'μ' => "m",
        'ν' => "v",
        'ο' => "o",
        'ρ' => "p",
        'τ' => "t",
        'υ' => "u",
        'χ' => "x",
        'ω' => "w",
        'γ' => "y",
        'ζ' => "z",
        // Armenian.
        'հ' => "h",
        'ո' => "n",
        'օ' => "o",
        'ս' => "u",
        // Lisu.
        'ꓲ' => "i",
        // Coptic.
        'ⲁ' => "a",
        'ⲉ' => "e",
        // Quotation marks and dashes.
        '‘' | '’' | 'ʼ' | '´' => "'",
        '“' | '”' | '„' | '«' | '»' => "\"",
        '‐'..='―' | '−' => "-",
        _ => return None,
    })
}

/// The letter that another letter is read as in every word: a Latin one for a letter with a stroke or
/// hook, or of a script with few readers; an Arabic one for its other forms; a Hebrew one for its
/// form at the end of a word.
pub(super) fn letter_of(c: char) -> Option<char> {
    static LETTERS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let rows = unicode::ALWAYS.iter().chain(&latin_variants::LETTERS);
        let rows = rows.chain(&fancy_letters::ALWAYS).chain(&unicode::ARABIC);
        by_character(rows.chain(&[('כ', "ך"), ('מ', "ם"), ('נ', "ן"), ('פ', "ף"), ('צ', "ץ")]))
    });
    LETTERS.get(&c).copied()
}

/// The Latin letter that a letter or sign of another script is read as in a word that mixes scripts.
pub(super) fn latin_in_mixed_word(c: char) -> Option<char> {
    static LETTERS: LazyLock<HashMap<char, char>> =
        LazyLock::new(|| by_character(fancy_letters::MIXED.iter().chain(&unicode::MIXED)));
    LETTERS.get(&c).copied()
}

/// Whether three of them in a row are hardly a word of Chinese or Japanese, nor a price, but drawn letters:
/// rare signs, Bopomofo and signs of currencies.
pub(super) fn is_drawing(c: char) -> bool {
    matches!(c, '\u{3105}'..='\u{312F}' | '\u{20A0}'..='\u{20CF}')
        || "卂匚乇卄丨丿卩丂乂冂凵囗廾".contains(c)
}

/// The Latin letter that a Cyrillic or Greek letter sounds like, if folding has left it.
pub(super) const fn sound(c: char) -> Option<char> {
    Some(match c {
        'б' => 'b',
        'г' => 'g',
        'д' | 'δ' => 'd',
        'з' => 'z',
        'и' => 'i',
        'л' | 'λ' => 'l',
        'п' | 'π' => 'p',
        'σ' => 's',
        'ф' | 'φ' => 'f',
        'э' => 'e',
        'ы' => 'y',
        _ => return None,
    })
}

/// What a Cyrillic word means by a Latin letter or a digit, after folding: by its look, otherwise by its
/// sound.
pub(super) const fn cyrillic(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | 'i' | 'j' | 'u' => 'и',
        '3' | 'z' => 'з',
        '4' => 'ч',
        '6' => 'б',
        '8' | 'v' => 'b',
        '9' => 'я',
        'd' | 'g' => 'д',
        'f' => 'ф',
        'l' => 'л',
        'n' => 'п',
        'r' => 'г',
        's' => 'c',
        'w' => 'ш',
        _ => c,
    }
}

/// What a Greek word means by a Latin letter or a digit, after folding.
pub(super) const fn greek(c: char) -> char {
    match c {
        '0' => 'o',
        '3' => 'e',
        '8' => 'θ',
        'd' => 'δ',
        'f' => 'φ',
        'g' => 'y',
        'l' => 'λ',
        'r' => 'p',
        's' => 'σ',
        _ => c,
    }
}

/// Rows of letters as a map. The first row that has a character decides.
fn by_character<'a>(rows: impl Iterator<Item = &'a (char, &'a str)>) -> HashMap<char, char> {
    let mut letters = HashMap::new();
    for (letter, row) in rows {
        for c in row.chars().flat_map(char::to_lowercase) {
            letters.entry(c).or_insert(*letter);
        }
    }
    letters
}

/// The letter in a white letter on a black disc or square, which NFKC does not change.
pub(super) fn enclosed(c: char) -> Option<char> {
    let first = match c {
        '\u{1F150}'..='\u{1F169}' => 0x1F150,
        '\u{1F170}'..='\u{1F189}' => 0x1F170,
        _ => return None,
    };
    char::from_u32(u32::from(c) - first + u32::from('a'))
}

/// Marks that decorate a letter but keep its identity: accents, strokes, Hebrew points, Arabic
/// vowels, and what only stretches Arabic and similar letters (`Joining_Type=Join_Causing`). Marks that
/// spell (Indic vowels, Japanese voicing) do not belong to them.
pub(super) fn is_decoration(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05BD}'
        | '\u{05BF}' | '\u{05C1}' | '\u{05C2}' | '\u{05C4}' | '\u{05C5}' | '\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{0640}' | '\u{0670}' | '\u{07FA}' | '\u{0883}'..='\u{0885}' | '\u{180A}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_alike_is_lower_case_and_folds_to_ascii() {
        for c in (0..=0x1_FFFF).filter_map(char::from_u32) {
            if let Some(ascii) = look_alike(c) {
                assert!(!c.is_uppercase() && !c.is_ascii(), "{c}");
                assert!(
                    ascii
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b"'\"-".contains(&b)),
                    "{c}"
                );
            }
            if let Some(letter) = enclosed(c) {
                assert!(letter.is_ascii_lowercase(), "{c}");
            }
            if let Some(letter) = letter_of(c) {
                assert_eq!(letter_of(letter), None, "{c}");
                assert_eq!(look_alike(letter), None, "{c}");
            }
            if let Some(letter) = latin_in_mixed_word(c) {
                assert!(letter.is_ascii_lowercase(), "{c}");
            }
        }
    }
}
