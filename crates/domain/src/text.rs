//! Finding what hides in texts: readings of a text with disguises undone, each with the way back to
//! the original.
//!
//! [`Folded`] undoes what does not change a word (case, compatibility forms, marks, invisible
//! characters, look-alikes). [`Loose`] goes further and is only for whole words (digits for
//! letters, spelled-out words, stretched letters). It also reads [`MixedScripts`] texts, in which words that
//! no language writes are read in one script and one direction. A [`Matcher`] finds many terms on all
//! of them at once.
//! Everything takes linear time, for any Unicode.

mod attached_words;
mod confusables;
mod disguised_parts;
mod fold;
mod invisible_characters;
mod loose;
mod matcher;
mod mixed_scripts;
mod text_direction;
mod upside_down_letters;
mod word_boundary;

use std::ops::Range;

pub(crate) use unicode_normalization::char::is_combining_mark as is_mark;

use disguised_parts::{around, windows};
pub use fold::Folded;
pub use invisible_characters::is_invisible;
use loose::{Choice, Loose};
pub use matcher::{Answer, Bounds, Hit, Matcher, Term, Where};
pub(crate) use matcher::{Terms, trie_states};
use mixed_scripts::{MixedScripts, repaired};
pub(crate) use word_boundary::is_hangul;
pub use word_boundary::is_unspaced;

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

/// A text as a person reads it who sees through disguises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undisguised {
    /// The folded text.
    pub folded: String,
    /// The parts of it that can be read loosely, read so, in their order. One part has two readings if
    /// a `1` or similar can be another letter.
    pub parts: Vec<String>,
}

/// Undoes disguises. Each part comes with `reach` bytes of the text on both sides; with `usize::MAX`
/// it is the whole text.
///
/// ```
/// let text = domain::text::undisguised("Such a B.l.o.c.k", usize::MAX);
/// assert_eq!(text.folded, "such a b.l.o.c.k");
/// assert_eq!(text.parts, ["such a block"]);
/// ```
pub fn undisguised(text: &str, reach: usize) -> Undisguised {
    let folded = Folded::new(text);
    let mut parts = Vec::new();
    let disguises = windows(folded.text(), 0);
    add_parts(
        folded.text(),
        windows(folded.text(), reach),
        &disguises,
        &mut parts,
    );
    // Who asks reads English.
    for repaired in repaired(text, &folded)
        .iter()
        .filter(|repaired| repaired.is_latin)
    {
        let text = repaired.folded.text();
        let near = around(text, &repaired.places, reach);
        for part in &near {
            push_new(&mut parts, text[part.clone()].to_owned());
        }
        add_parts(text, near, &windows(text, 0), &mut parts);
    }
    Undisguised {
        folded: folded.text().to_owned(),
        parts,
    }
}

/// Adds the loose readings of parts of a folded text that differ from it.
fn add_parts(
    folded: &str,
    parts: Vec<Range<usize>>,
    disguises: &[Range<usize>],
    read: &mut Vec<String>,
) {
    let mut rest = disguises;
    for part in parts {
        let before = rest.partition_point(|disguise| disguise.end <= part.start);
        rest = &rest[before..];
        let count = rest.partition_point(|disguise| disguise.start < part.end);
        let clipped = rest[..count].iter();
        let within: Vec<Range<usize>> = clipped
            .map(|disguise| disguise.start.max(part.start)..disguise.end.min(part.end))
            .collect();
        let first = loose::part(folded, &part, &within, Choice::First);
        let second = loose::part(folded, &part, &within, Choice::Second);
        let is_new = [first != folded[part], second != first];
        let readings = [first, second].into_iter().zip(is_new);
        for (reading, _) in readings.filter(|(_, is_new)| *is_new) {
            push_new(read, reading);
        }
    }
}

/// Adds a reading, if none of the last ones is the same.
fn push_new(parts: &mut Vec<String>, reading: String) {
    /// More than one part of a text has.
    const LAST: usize = 11;
    if !parts.iter().rev().take(LAST).any(|part| *part == reading) {
        parts.push(reading);
    }
}

/// A text with its readings.
pub struct Readings<'t> {
    original: &'t str,
    folded: Folded,
    repaired: Vec<MixedScripts>,
}

impl<'t> Readings<'t> {
    /// Reads a text.
    pub fn new(original: &'t str) -> Self {
        let folded = Folded::new(original);
        let repaired = repaired(original, &folded);
        Self {
            original,
            folded,
            repaired,
        }
    }

    /// The text as it was submitted.
    pub const fn original(&self) -> &'t str {
        self.original
    }

    /// The folded reading.
    pub const fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Loose readings of the parts that could read differently, with enough context for terms of
    /// this many bytes, each with the text that it is a reading of. Without a disguise there are none;
    /// with an ambiguous `1` there are two.
    pub(crate) fn loose(&self, longest: usize) -> impl Iterator<Item = (Loose, &Folded)> {
        let text = self.folded.text();
        let plain = std::iter::once((&self.folded, windows(text, longest)));
        let repaired = self.repaired.iter().map(move |repaired| {
            let near = around(repaired.folded.text(), &repaired.places, longest);
            (&repaired.folded, near)
        });
        plain.chain(repaired).flat_map(|(folded, windows)| {
            loose::readings(folded.text(), windows).map(move |loose| (loose, folded))
        })
    }

    /// The range of the folded reading for a range of a text that [`Readings::loose`] gives.
    fn folded_span(&self, of: &Folded, at: Range<usize>) -> Range<usize> {
        if std::ptr::eq(of, &raw const self.folded) {
            at
        } else {
            self.folded.folded_span(&of.original_span(at))
        }
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
        for (text, folded, parts) in [
            ("", "", &[][..]),
            ("An Ordinary text", "an ordinary text", &[]),
            (
                "Skiing, and a\tgoood b00k",
                "skiing, and a goood b00k",
                &["skiing, and a god book"],
            ),
            (
                "a w.o.r.d and a k1ll, then words that stay",
                "a w.o.r.d and a k1ll, then words that stay",
                &[
                    "a word and a kill, then words that stay",
                    // Three of one letter are one.
                    "a word and a kl, then words that stay",
                ],
            ),
            ("\u{0441}all", "call", &[]),
        ] {
            let read = undisguised(text, usize::MAX);
            assert_eq!(read.folded, folded);
            assert_eq!(read.parts, parts, "{text}");
        }
    }

    #[test]
    fn a_part_of_a_long_text_is_read_with_what_is_around_it() {
        let harmless = "and nothing is here to see ".repeat(10);
        let text = format!("{harmless}a b00k {harmless}a w.o.r.d {harmless}");
        let parts = undisguised(&text, 40).parts;
        assert_eq!(parts.len(), 2, "{parts:?}");
        for (part, read) in parts.iter().zip([" a book ", " a word "]) {
            assert!(part.contains(read), "{part}");
            assert!((80..200).contains(&part.len()), "{part}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_what_the_whole_text_reads_there(text in "[a1.@ ]{0,300}", reach in 0..80_usize) {
            let Undisguised { folded, parts } = undisguised(&text, reach);
            let expected = Folded::new(&text);
            prop_assert_eq!(&folded, expected.text());
            let whole = undisguised(&text, usize::MAX).parts;
            prop_assert_eq!(parts.is_empty(), whole.is_empty());
            for part in parts {
                prop_assert!(whole.iter().any(|whole| whole.contains(&part)), "{}: {:?}", part, whole);
            }
        }

        #[test]
        fn no_reading_is_the_folded_text_and_none_is_there_twice(text in "\\PC{0,120}") {
            let Undisguised { folded, parts } = undisguised(&text, usize::MAX);
            // Two of the text, three in Latin letters by look, and by sound, three of turned parts.
            prop_assert!(parts.len() <= 11);
            for (at, part) in parts.iter().enumerate() {
                prop_assert!(*part != folded && !parts[..at].contains(part));
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
