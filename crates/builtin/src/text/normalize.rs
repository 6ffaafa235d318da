//! The form in which the models see a text. It is the form of their training texts, so a change
//! here needs new weights.

use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// In lower case, without accents and invisible characters, and with single spaces. An address
/// becomes `url`, and a mention becomes `@user`. A character that is repeated four times or more
/// stays three times.
pub(super) fn normalize(text: &str) -> String {
    let plain = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        let plain = text.nfkd();
        let plain = plain
            .filter(|c| c.is_ascii() || (canonical_combining_class(*c) == 0 && !is_invisible(*c)));
        plain.collect::<String>().to_lowercase()
    };
    let named = replace(plain, ADDRESSES, address, " url ");
    squeeze(&replace(named, &["@"], mention, " @user "))
}

/// How web addresses begin.
const ADDRESSES: &[&str] = &["http://", "https://", "www."];

/// What counts as a space, as in Python.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

fn is_invisible(c: char) -> bool {
    c.general_category() == GeneralCategory::Format
}

/// Replaces each thing that `length` finds at a position. `length` returns its number of bytes. All such things begin with one of
/// `starts`.
fn replace(text: String, starts: &[&str], length: fn(&str) -> Option<usize>, name: &str) -> String {
    if !starts.iter().any(|start| text.contains(start)) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(c) = rest.chars().next() {
        if let Some(length) = length(rest) {
            out.push_str(name);
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The length of the web address at the start of a text: up to the next space.
fn address(text: &str) -> Option<usize> {
    let start = ADDRESSES.iter().find(|start| text.starts_with(**start))?;
    let end = text.find(is_space).unwrap_or(text.len());
    (end > start.len()).then_some(end)
}

/// The length of the mention at the start of a text: `@` and letters, digits or `_`.
fn mention(text: &str) -> Option<usize> {
    let name = text.strip_prefix('@')?;
    let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
    (end > 0).then_some(end + 1)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || c == '_'
        || (!c.is_ascii()
            && matches!(
                c.general_category_group(),
                GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
            ))
}

/// Cuts what is repeated, and leaves single spaces between words.
fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut last, mut times, mut space) = (None, 0, false);
    for c in text.chars() {
        times = if last == Some(c) { times + 1 } else { 1 };
        last = Some(c);
        if is_space(c) {
            space = true;
        } else if times <= 3 {
            if space && !out.is_empty() {
                out.push(' ');
            }
            space = false;
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn a_text_is_folded_as_the_training_texts_were() {
        for (text, folded) in [
            ("", ""),
            (" \t\n ", ""),
            ("  Hello,\n\tWORLD  ", "hello, world"),
            ("Crème BRÛLÉE", "creme brulee"),
            ("ﬁne ｗｉｄｅ ²", "fine wide 2"),
            ("in\u{200b}vis\u{ad}ible", "invisible"),
            ("see https://a.example/x?y=1 now", "see url now"),
            ("see HTTP://a.example", "see url"),
            ("https:// nothing", "https:// nothing"),
            ("awww.yes", "a url"),
            ("www. no", "www. no"),
            ("@Somebody_1, hi", "@user , hi"),
            ("mail me@a.example", "mail me @user .example"),
            ("@ nobody", "@ nobody"),
            ("@http://a", "@ url"),
            ("nooooo!!!!!!", "nooo!!!"),
            ("aaa", "aaa"),
            ("a\u{1c}b\u{85}c\u{a0}d", "a b c d"),
            ("İstanbul ΣΑΣ", "istanbul σας"),
        ] {
            assert_eq!(normalize(text), folded, "{text:?}");
        }
    }
}
