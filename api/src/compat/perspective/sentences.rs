//! The sentences of a text.

use unicode_segmentation::UnicodeSegmentation as _;

/// The most spans of a text. Each is an item of its own, so a longer text has several sentences in a span.
const MOST: usize = 50;

/// A part of a text, in UTF-16 code units, as Perspective counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) begin: usize,
    /// The first one that no longer belongs to it.
    pub(super) end: usize,
}

impl Span {
    pub(super) fn of_whole(text: &str) -> Self {
        Self {
            begin: 0,
            end: units(text),
        }
    }
}

/// The sentences with their places, without the space between them. Empty if there are not two.
pub(super) fn sentences(text: &str) -> Vec<(Span, &str)> {
    let mut bounds = Vec::new();
    for (start, sentence) in text.split_sentence_bound_indices() {
        let trimmed = sentence.trim_start();
        let start = start + sentence.len() - trimmed.len();
        let trimmed = trimmed.trim_end();
        if !trimmed.is_empty() {
            bounds.push((start, start + trimmed.len()));
        }
    }
    if bounds.len() < 2 {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    // Counted on from the last span, so that the text is read once.
    let (mut read, mut place) = (0, 0);
    for together in bounds.chunks(bounds.len().div_ceil(MOST)) {
        let [(start, _), ..] = *together else {
            continue;
        };
        let [.., (_, end)] = *together else { continue };
        let begin = place + units(&text[read..start]);
        let sentence = &text[start..end];
        place = begin + units(sentence);
        read = end;
        sentences.push((Span { begin, end: place }, sentence));
    }
    sentences
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
