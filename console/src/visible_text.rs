//! Texts of strangers, as a page shows them: characters that hide or turn what is written are spelled out, and places can be
//! marked.

use std::ops::Range;

/// Runs of hidden characters that are spelled out. A text can have a hundred thousand.
const MOST_SPELLED: usize = 1_000;

/// What stands for the runs after these.
const UNSPELLED: char = '\u{fffd}';

/// The beginning of a text, in at most so many characters.
pub(crate) fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text in parts.
#[derive(Default)]
pub(crate) struct VisibleText {
    pub(crate) parts: Vec<Part>,
    /// Whether the end is missing.
    pub(crate) is_cut: bool,
    /// Whether it had more hidden characters than are spelled out.
    pub(crate) is_unspelled: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// Whether the place is marked.
    pub(crate) is_marked: bool,
    /// Whether the text is the name of a hidden character.
    pub(crate) is_hidden: bool,
}

impl VisibleText {
    /// A text with these places marked. Places are bytes; those that are not at characters are ignored.
    pub(crate) fn new(text: &str, marked: &[Range<usize>]) -> Self {
        let marked = merged(text, marked);
        let mut said = Self::default();
        let mut from = 0;
        for place in &marked {
            said.add(text, from..place.start, false);
            said.add(text, place.clone(), true);
            from = place.end;
        }
        said.add(text, from..text.len(), false);
        said
    }

    pub(crate) fn truncated(text: &str, most: usize) -> Self {
        let end = text.char_indices().nth(most).map(|(end, _)| end);
        Self {
            is_cut: end.is_some(),
            ..Self::new(&text[..end.unwrap_or(text.len())], &[])
        }
    }

    fn add(&mut self, text: &str, place: Range<usize>, is_marked: bool) {
        let mut plain = String::new();
        let mut rest = text[place.clone()].char_indices().peekable();
        while let Some((at, letter)) = rest.next() {
            let at = place.start + at;
            if !is_hidden(letter) || joins(text, at, letter) {
                plain.push(letter);
                continue;
            }
            let mut count = 1;
            while rest.next_if(|(_, next)| *next == letter).is_some() {
                count += 1;
            }
            if self.parts.len() / 2 >= MOST_SPELLED {
                self.is_unspelled = true;
                plain.push(UNSPELLED);
                continue;
            }
            self.push(std::mem::take(&mut plain), is_marked, false);
            self.push(spelled(letter, count), is_marked, true);
        }
        self.push(plain, is_marked, false);
    }

    fn push(&mut self, text: String, is_marked: bool, is_hidden: bool) {
        if !text.is_empty() {
            self.parts.push(Part {
                text,
                is_marked,
                is_hidden,
            });
        }
    }
}

/// Places in order that neither overlap nor split characters.
fn merged(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut places: Vec<_> = places
        .iter()
        .filter(|place| place.start < place.end && text.get((*place).clone()).is_some())
        .cloned()
        .collect();
    places.sort_by_key(|place| place.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            Some(_) | None => merged.push(place),
        }
    }
    merged
}

/// Characters without a shape of their own, and those that turn the direction of others.
const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether a joiner stands where writing needs it: between two characters that are not Latin, such as those of an emoji or of
/// Persian.
fn joins(text: &str, at: usize, letter: char) -> bool {
    let needs = |letter: Option<char>| {
        letter.is_some_and(|letter| letter > '\u{2ff}' && !is_hidden(letter))
    };
    matches!(letter, '\u{200c}' | '\u{200d}')
        && needs(text[..at].chars().next_back())
        && needs(text[at + letter.len_utf8()..].chars().next())
}

fn spelled(letter: char, count: usize) -> String {
    let code = u32::from(letter);
    match count {
        1 => format!("U+{code:04X}"),
        _ => format!("U+{code:04X} × {count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(said: &VisibleText) -> String {
        let parts = said
            .parts
            .iter()
            .map(|part| match (part.is_marked, part.is_hidden) {
                (false, false) => part.text.clone(),
                (true, false) => format!("[{}]", part.text),
                (false, true) => format!("<{}>", part.text),
                (true, true) => format!("[<{}>]", part.text),
            });
        parts.collect()
    }

    #[test]
    fn hidden_characters_are_spelled_out_and_needed_joiners_are_not() {
        for (text, expected) in [
            ("", ""),
            ("a\tb\nc é 漢", "a\tb\nc é 漢"),
            ("te\u{200b}le\u{200d}gram", "te<U+200B>le<U+200D>gram"),
            ("\u{202e}cba\u{202c}", "<U+202E>cba<U+202C>"),
            ("a\u{200b}\u{200b}\u{200b}", "a<U+200B × 3>"),
            ("👩\u{200d}👧", "👩\u{200d}👧"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("\u{7}", "<U+0007>"),
        ] {
            assert_eq!(shown(&VisibleText::new(text, &[])), expected, "{text:?}");
        }
    }

    #[test]
    fn places_are_marked_whether_or_not_they_overlap() {
        let marked = |places: &[Range<usize>]| shown(&VisibleText::new("é b\u{200b}c d", places));
        assert_eq!(marked(&[3..8, 4..7]), "é [b][<U+200B>][c] d");
        assert_eq!(marked(&[0..2, 9..10, 9..10, 0..3]), "[é ]b<U+200B>c [d]");
        let outside = marked(&[1..3, 5..900, 3..3]);
        assert_eq!(outside, "é b<U+200B>c d", "there are no such places");
    }

    #[test]
    fn a_text_of_hidden_characters_does_not_become_a_page_of_their_names() {
        let text = "\u{200b}\u{200d}".repeat(50_000);
        let said = VisibleText::new(&text, &[]);
        assert!(said.is_unspelled);
        assert!(
            said.parts.len() <= 2 * MOST_SPELLED + 1,
            "{}",
            said.parts.len()
        );
    }
}
