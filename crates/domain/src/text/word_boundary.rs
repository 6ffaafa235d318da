//! Where words begin and end.

use unicode_normalization::char::is_combining_mark;

/// Whether two neighbouring characters belong to one word, so that no word begins or ends between
/// them. Single Korean letters, which people laugh and cry with, belong to no word: 바보ㅋㅋ.
pub(super) fn joined(left: Option<char>, right: Option<char>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return false;
    };
    // The usual case.
    if left.is_ascii() && right.is_ascii() {
        return left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric();
    }
    in_spaced_word(left)
        && in_spaced_word(right)
        && !(is_hangul(left) && is_jamo(right) || is_jamo(left) && is_hangul(right))
}

/// Whether it is a letter of a script in which many words consist of letters that look like Latin ones:
/// Greek or Cyrillic.
pub(super) const fn is_twin(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{52F}' | '\u{1F00}'..='\u{1FFF}')
}

/// Whether it is a Korean syllable.
pub(crate) const fn is_hangul(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}')
}

/// Whether it is a single Korean letter, as folding leaves it.
const fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}')
}

/// Whether it is an Arabic letter.
pub(super) const fn is_arabic(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{64A}' | '\u{66E}'..='\u{6D3}')
}

/// Whether a character belongs to words that are separated by spaces.
fn in_spaced_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c)
}

/// Scripts without spaces: a word may end between any two of their characters.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{3040}'..='\u{30FF}'   // Hiragana, Katakana
        | '\u{3400}'..='\u{4DBF}'   // Han, extension A
        | '\u{4E00}'..='\u{9FFF}'   // Han
        | '\u{F900}'..='\u{FAFF}'   // Han, compatibility
        | '\u{20000}'..='\u{3FFFF}' // Han, the other extensions
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_join_and_unspaced_scripts_do_not() {
        for (left, right, expected) in [
            ('a', 'b', true),
            ('a', '1', true),
            ('a', '_', false),
            ('a', '\'', false),
            ('é', 'я', true),
            ('क', '\u{093E}', true),
            ('屏', '蔽', false),
            ('a', '蔽', false),
            ('한', '국', true),
            ('보', 'ᄏ', false),
            ('ᄏ', 'ᄏ', true),
        ] {
            assert_eq!(joined(Some(left), Some(right)), expected, "{left}{right}");
        }
        assert!(!joined(None, Some('a')));
    }
}
