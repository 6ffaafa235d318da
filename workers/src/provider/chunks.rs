//! Cuts long texts into pieces that a provider takes: after a sentence, otherwise after a word.
//! Pieces overlap, so that no phrase is lost at a cut. The score of a category is the maximum over
//! the pieces.

#[cfg(test)]
mod tests;

use domain::score::{Category, Scores};

use super::{Answer, transport::MAX_KEPT};

/// Bytes that a piece shares with the one before: a few sentences.
const OVERLAP: usize = 400;

/// The fewest bytes of a piece, so that most of it does not overlap.
pub(super) const LEAST: usize = 1_000;

/// Cuts a text into overlapping pieces of at most `most` bytes, which is [`LEAST`] or more.
pub(crate) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let most = most.max(LEAST);
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > most {
        let end = start + cut(&text[start..text.floor_char_boundary(start + most)]);
        pieces.push(&text[start..end]);
        let overlap = text.floor_char_boundary(end - OVERLAP);
        // From the next word, if one begins within the overlap.
        start = text[overlap..end]
            .find(char::is_whitespace)
            .map_or(overlap, |space| overlap + space);
    }
    pieces.push(&text[start..]);
    pieces
}

/// Where to cut, in the last half: after a sentence, or after a word, or at the end.
fn cut(text: &str) -> usize {
    let half = text.floor_char_boundary(text.len() / 2);
    let last_half = &text[half..];
    let sentence = last_half
        .char_indices()
        .zip(last_half.chars().skip(1))
        .filter(|((_, end), next)| ends_sentence(*end, *next))
        .last()
        .map(|((at, end), _)| at + end.len_utf8());
    let place = sentence.or_else(|| last_half.rfind(char::is_whitespace));
    place.map_or(text.len(), |place| half + place)
}

fn ends_sentence(end: char, next: char) -> bool {
    match end {
        '.' | '!' | '?' | '…' => next.is_whitespace(),
        '\n' | '。' | '！' | '？' => true,
        _ => false,
    }
}

/// Merges the answers to all pieces: the maximum for each category. If one piece has no score for a
/// category, the whole text has none, because the maximum of the other pieces would look like a
/// score of the whole text.
pub(crate) fn merge<'a>(pieces: impl IntoIterator<Item = (&'a Scores, Option<&'a str>)>) -> Answer {
    let mut merged = Scores::default();
    let mut everywhere = Category::ALL.to_vec();
    let mut raw = String::new();
    for (scores, body) in pieces {
        merged.merge_max(scores);
        everywhere.retain(|category| scores.get(*category).is_some());
        let room = MAX_KEPT.saturating_sub(raw.len());
        if let Some(body) = body.filter(|_| room > 0) {
            let separator = if raw.is_empty() { "" } else { "\n" };
            raw.push_str(separator);
            raw.push_str(&body[..body.floor_char_boundary(room)]);
        }
    }
    let scores = merged
        .iter()
        .filter(|(category, _)| everywhere.contains(category));
    Answer {
        scores: scores.collect(),
        raw: (!raw.is_empty()).then_some(raw),
        spent: None,
    }
}
