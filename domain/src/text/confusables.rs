//! Letters that look like Latin ones, signs that look like ASCII signs, and invisible characters.
//!
//! The table is small on purpose: it has letters that readers mistake for a Latin one at a glance.
//! NFKC has already folded what Unicode itself calls compatible (fullwidth, mathematical and
//! circled letters, ligatures).

/// The ASCII text that a lower-case letter or a sign can pass for. Case is folded first. So a
/// letter whose capital alone looks Latin (Cyrillic `в`, `н`) is here, too: both cases must fold
/// alike.
#[expect(
    clippy::match_same_arms,
    clippy::too_many_lines,
    reason = "the table goes by script, so that a reader can check it"
)]
pub(super) fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        // Latin relatives and small capitals.
        'ı' | 'ɩ' | 'ɪ' => "i",
        'ł' | 'ʟ' => "l",
        'ø' | 'ᴏ' => "o",
        'đ' | 'ᴅ' => "d",
        'ħ' | 'ʜ' => "h",
        'ŧ' | 'ᴛ' => "t",
        'ɑ' | 'ᴀ' => "a",
        'ɡ' | 'ɢ' => "g",
        'ƒ' | 'ꜰ' => "f",
        'ə' | 'ɛ' | 'ᴇ' => "e",
        'ʙ' => "b",
        'ᴄ' => "c",
        'ᴊ' => "j",
        'ᴋ' => "k",
        'ᴍ' => "m",
        'ɴ' => "n",
        'ᴘ' => "p",
        'ʀ' => "r",
        'ꜱ' => "s",
        'ᴜ' => "u",
        'ᴠ' => "v",
        'ᴡ' => "w",
        'ʏ' => "y",
        'ᴢ' => "z",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ɓ' => "b",
        'ɗ' => "d",
        'ɠ' => "g",
        'ɦ' => "h",
        'ɨ' => "i",
        'ƙ' => "k",
        'ɫ' | 'ɬ' => "l",
        'ɱ' => "m",
        'ŋ' | 'ɲ' => "n",
        'ɵ' => "o",
        'ƥ' => "p",
        'ɼ' | 'ɽ' | 'ɾ' => "r",
        'ʂ' => "s",
        'ʈ' | 'ƭ' => "t",
        'ʉ' => "u",
        'ʋ' => "v",
        'ʐ' | 'ƶ' => "z",
        // Turned Latin letters.
        'ɐ' => "a",
        'ǝ' => "e",
        'ɟ' => "f",
        'ƃ' => "g",
        'ɥ' => "h",
        'ᴉ' => "i",
        'ʞ' => "k",
        'ɯ' => "m",
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
        // Cherokee, in its small letters.
        'ꭺ' => "a",
        'ꮟ' | 'ᏼ' => "b",
        'ꮯ' => "c",
        'ꭰ' | 'ꮷ' => "d",
        'ꭼ' => "e",
        'ꮐ' | 'ᏻ' => "g",
        'ꮋ' => "h",
        'ꭵ' => "i",
        'ꭻ' => "j",
        'ꮶ' => "k",
        'ꮮ' => "l",
        'ꮇ' => "m",
        'ꮲ' => "p",
        'ꭱ' | 'ꮢ' => "r",
        'ꮥ' | 'ꮪ' => "s",
        'ꭲ' => "t",
        'ꮩ' => "v",
        'ꮃ' | 'ꮤ' => "w",
        'ꮍ' => "y",
        'ꮓ' => "z",
        // Lisu.
        'ꓮ' => "a",
        'ꓐ' => "b",
        'ꓚ' => "c",
        'ꓓ' => "d",
        'ꓰ' => "e",
        'ꓝ' => "f",
        'ꓖ' => "g",
        'ꓧ' => "h",
        'ꓲ' => "i",
        'ꓙ' => "j",
        'ꓗ' => "k",
        'ꓡ' => "l",
        'ꓟ' => "m",
        'ꓠ' => "n",
        'ꓳ' => "o",
        'ꓑ' => "p",
        'ꓣ' => "r",
        'ꓢ' => "s",
        'ꓔ' => "t",
        'ꓴ' => "u",
        'ꓦ' => "v",
        'ꓪ' => "w",
        'ꓫ' => "x",
        'ꓬ' => "y",
        'ꓜ' => "z",
        // Coptic.
        'ⲁ' => "a",
        'ⲃ' => "b",
        'ⲥ' => "c",
        'ⲉ' => "e",
        'ⲏ' => "h",
        'ⲓ' => "i",
        'ⲕ' => "k",
        'ⲙ' => "m",
        'ⲛ' => "n",
        'ⲟ' => "o",
        'ⲣ' => "p",
        'ⲧ' => "t",
        'ⲭ' => "x",
        'ⲩ' => "y",
        // Quotation marks and dashes.
        '‘' | '’' | 'ʼ' | '´' => "'",
        '“' | '”' | '„' | '«' | '»' => "\"",
        '‐'..='―' | '−' => "-",
        _ => return None,
    })
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

/// Characters without ink or width, which split a word only for a machine.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Marks that decorate a letter but keep its identity: accents, strokes, Hebrew points, Arabic
/// vowels. Marks that spell (Indic vowels, Japanese voicing) do not belong to them.
pub(super) fn is_decoration(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05BD}'
        | '\u{05BF}' | '\u{05C1}' | '\u{05C2}' | '\u{05C4}' | '\u{05C5}' | '\u{05C7}' | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
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
        }
    }
}
