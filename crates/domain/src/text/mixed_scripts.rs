//! Readings of words that no language writes: words that mix scripts, read in one script, and parts that
//! are turned. The words are repaired, and everything around them stays as it is.
//!
//! A word in which Latin and Cyrillic letters are mixed can hide a word of either. So it is read in both
//! scripts, and a term of either finds it.

use std::ops::Range;

use super::confusables::{cyrillic, greek, latin_in_mixed_word, sound};
use super::fold::{Folded, Mixed};
use super::text_direction::reversed;

/// A folded text in which some words are repaired.
pub(super) struct MixedScripts {
    pub(super) folded: Folded,
    /// The repaired words, in their order.
    pub(super) places: Vec<Range<usize>>,
    /// Whether Latin words can appear in it.
    pub(super) is_latin: bool,
}

/// How a word is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Latin,
    /// Cyrillic and Greek letters by their sound, not by their look.
    LatinBySound,
    Cyrillic,
    Greek,
}

/// All such readings of a text; none for an ordinary one.
pub(super) fn repaired(original: &str, folded: &Folded) -> Vec<MixedScripts> {
    let mut all = Vec::new();
    if !folded.mixed().is_empty() {
        let ways = [As::Latin, As::LatinBySound, As::Cyrillic, As::Greek];
        all.extend(ways.into_iter().filter_map(|way| read_as(way, folded)));
    }
    if folded.turns()
        && let Some(folded) = reversed(original)
    {
        all.push(MixedScripts {
            places: std::iter::once(0..folded.text().len()).collect(),
            folded,
            is_latin: true,
        });
    }
    all
}

fn read_as(way: As, folded: &Folded) -> Option<MixedScripts> {
    let words: Vec<(Range<usize>, String)> = folded
        .mixed()
        .iter()
        .filter_map(|mixed| {
            let at = mixed.at();
            let word = &folded.text()[at.clone()];
            let read = read_word(way, mixed, word)?;
            (read != word).then_some((at, read))
        })
        .collect();
    if words.is_empty() {
        return None;
    }
    let (folded, places) = folded.with_words(&words);
    Some(MixedScripts {
        folded,
        places,
        is_latin: matches!(way, As::Latin | As::LatinBySound),
    })
}

/// A word as it is read so; `None` if it has characters that are no letters there.
fn read_word(way: As, mixed: &Mixed, word: &str) -> Option<String> {
    let letters = word.chars();
    let latin = |c: char, other: Option<char>| {
        if c.is_ascii_alphanumeric() {
            Some(c)
        } else {
            other
        }
    };
    match way {
        As::Latin => letters.map(|c| latin(c, latin_in_mixed_word(c))).collect(),
        As::LatinBySound => letters.map(|c| latin(c, sound(c))).collect(),
        As::Cyrillic => mixed
            .has_cyrillic()
            .then(|| letters.map(cyrillic).collect()),
        As::Greek => mixed.has_greek().then(|| letters.map(greek).collect()),
    }
}
