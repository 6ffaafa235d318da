//! Finding what hides in texts: readings of a text with disguises undone, each with the way back to
//! the original.
//!
//! [`Folded`] undoes what does not change a word (case, compatibility forms, marks, invisible
//! characters, look-alikes). [`Loose`] goes further and is only for whole words (digits for
//! letters, spelled-out words, stretched letters). A [`Matcher`] finds many terms on both at once.
//! Everything takes linear time, for any Unicode.

mod boundary;
mod confusables;
mod disguise;
mod fold;
mod loose;
mod matcher;
mod trie;

use std::ops::Range;

pub(crate) use boundary::is_unspaced;
pub(crate) use confusables::is_invisible;
use disguise::windows;
pub(crate) use fold::Folded;
use loose::Choice;
use loose::Loose;
pub(crate) use matcher::{Answer, Bounds, Matcher, Term, Terms, Where};
pub(crate) use trie::trie_states;

/// The most characters of a masked text. Longer ones lose stars, so that a match of a whole text
/// stays small.
pub const MAX_MASKED_CHARS: usize = 100;

/// Masks a matched text: the first and the last character stay, and the others become `*`. With
/// fewer than four characters, all do. Characters are Unicode scalar values, so the mask
/// reveals nothing but the length of the original.
///
/// ```
/// assert_eq!(domain::text::mask("blocked"), "b*****d");
/// assert_eq!(domain::text::mask("abc"), "***");
/// ```
pub fn mask(text: &str) -> String {
    let length = text.chars().count();
    let mut ends = text.chars();
    match (ends.next(), ends.next_back()) {
        (Some(first), Some(last)) if length >= 4 => {
            let stars = length.min(MAX_MASKED_CHARS) - 2;
            format!("{first}{}{last}", "*".repeat(stars))
        }
        _ => "*".repeat(length),
    }
}

/// A text as a person reads it who sees through disguises: the folded text, and, if parts of it can
/// be read loosely, the text with those parts read so. It has two loose readings if a `1` or similar
/// can be another letter. Each reading differs from the others.
///
/// ```
/// let readings = domain::text::undisguised("Such a B.l.o.c.k");
/// assert_eq!(readings, ["such a b.l.o.c.k", "such a block"]);
/// ```
pub fn undisguised(text: &str) -> Vec<String> {
    let folded = Folded::new(text);
    let folded = folded.text();
    let windows = windows(folded, 0);
    let mut readings = vec![folded.to_owned()];
    if windows.is_empty() {
        return readings;
    }
    for choice in [Choice::First, Choice::Second] {
        let loose = loose::whole(folded, &windows, choice);
        if !readings.contains(&loose) {
            readings.push(loose);
        }
    }
    readings
}

/// A text with its readings.
pub(crate) struct Readings<'t> {
    original: &'t str,
    folded: Folded,
}

impl<'t> Readings<'t> {
    /// Reads a text.
    pub(crate) fn new(original: &'t str) -> Self {
        let folded = Folded::new(original);
        Self { original, folded }
    }

    /// The text as it was submitted.
    pub(crate) const fn original(&self) -> &'t str {
        self.original
    }

    /// The folded reading.
    pub(crate) const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Loose readings of the parts that could read differently, with enough context for terms of
    /// this many bytes. Without a disguise there are none; with an ambiguous `1` there are two.
    pub(crate) fn loose(&self, longest: usize) -> impl Iterator<Item = Loose> {
        let folded = self.folded.text();
        loose::readings(folded, windows(folded, longest))
    }

    /// The range of the original text, in bytes, for a range of the folded reading.
    pub(crate) fn original_span(&self, folded: Range<usize>) -> Range<usize> {
        self.folded.original_span(folded)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn masks_keep_the_ends_and_hide_short_texts_whole() {
        for (text, masked) in [
            ("", ""),
            ("a", "*"),
            ("abc", "***"),
            ("abcd", "a**d"),
            ("blockedword", "b*********d"),
            ("b l o", "b***o"),
            ("çağrı", "ç***ı"),
            ("🔥🔥🔥🔥", "🔥**🔥"),
        ] {
            assert_eq!(mask(text), masked);
        }
        assert_eq!(mask(&"x".repeat(5_000)).chars().count(), MAX_MASKED_CHARS);
    }

    #[test]
    fn a_whole_text_is_read_as_what_its_disguises_mean() {
        for (text, readings) in [
            ("", &[""][..]),
            ("An Ordinary text", &["an ordinary text"]),
            (
                "Skiing, and a\tgoood b00k",
                &["skiing, and a goood b00k", "skiing, and a god book"],
            ),
            (
                "a w.o.r.d and a k1ll, then words that stay",
                &[
                    "a w.o.r.d and a k1ll, then words that stay",
                    "a word and a kill, then words that stay",
                    // Three of one letter are one.
                    "a word and a kl, then words that stay",
                ],
            ),
            ("\u{0441}all", &["call"]),
        ] {
            assert_eq!(undisguised(text), readings, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_first_reading_is_the_folded_one_and_none_is_there_twice(text in "\\PC{0,120}") {
            let readings = undisguised(&text);
            let folded = Folded::new(&text);
            prop_assert_eq!(&readings[0], folded.text());
            prop_assert!(readings.len() <= 3);
            for (at, reading) in readings.iter().enumerate() {
                prop_assert!(!readings[..at].contains(reading));
            }
        }

        #[test]
        fn a_mask_shows_two_characters_at_most(text in "\\PC{0,120}") {
            let masked = mask(&text);
            let length = text.chars().count();
            prop_assert_eq!(masked.chars().count(), length.min(MAX_MASKED_CHARS));
            let inner = masked.chars().skip(1).take(masked.chars().count().saturating_sub(2));
            prop_assert!(inner.into_iter().all(|c| c == '*'));
            prop_assert!(length >= 4 || masked.chars().all(|c| c == '*'));
        }
    }
}
