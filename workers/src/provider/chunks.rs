//! Long texts in pieces that a provider takes: cut where a sentence ends, or else a word, and overlapping, so that nothing
//! hides on a seam. Each category gets the maximum over the pieces.

use domain::score::{Category, Scores};

use super::ProviderError;

/// Bytes that a piece shares with the one before: a few sentences.
const OVERLAP: usize = 400;

/// The fewest bytes of a piece: so many that most of it is new.
pub(super) const LEAST: usize = 1_000;

/// Cuts a text into overlapping pieces of at most `most` bytes, which is [`LEAST`] or more.
pub(super) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let most = most.max(LEAST);
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > most {
        let end = start + cut(&text[start..text.floor_char_boundary(start + most)]);
        pieces.push(&text[start..end]);
        let overlap = text.floor_char_boundary(end - OVERLAP);
        // From the next word on, if one begins within the overlap.
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

/// The maximum per category over the pieces.
///
/// # Errors
/// A category that one piece has and another has not: its maximum would pass for the whole text's.
pub(super) fn merge(pieces: &[Scores]) -> Result<Scores, ProviderError> {
    let mut merged = Scores::default();
    for scores in pieces {
        merged.merge_max(scores);
    }
    let scored_in_part = |category: Category| {
        merged.get(category).is_some() && pieces.iter().any(|scores| scores.get(category).is_none())
    };
    if Category::ALL.into_iter().any(scored_in_part) {
        return Err(ProviderError::Malformed(
            "a category is scored in one piece of the text and not in another",
        ));
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 8_000;

    /// That the pieces are pieces of the text, in order, together all of it, and overlap.
    fn assert_cover(text: &str, pieces: &[&str]) {
        let place = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        assert!(pieces.iter().all(|piece| piece.len() <= MOST));
        assert_eq!(place(pieces[0]), 0);
        assert!(text.ends_with(pieces[pieces.len() - 1]));
        for pair in pieces.windows(2) {
            let (end, next) = (place(pair[0]) + pair[0].len(), place(pair[1]));
            assert!(place(pair[0]) < next && next < end, "{next} {end}");
        }
    }

    #[test]
    fn a_text_that_fits_stays_whole() {
        assert_eq!(pieces("", MOST), [""]);
        let text = "x".repeat(MOST);
        assert_eq!(pieces(&text, MOST), [text.as_str()]);
    }

    #[test]
    fn pieces_end_with_sentences_and_begin_with_words() {
        let text = "Wörter stehen hier. ".repeat(2_000);
        let pieces = pieces(&text, MOST);
        assert_cover(&text, &pieces);
        for piece in &pieces[..pieces.len() - 1] {
            assert!(piece.ends_with('.'), "{piece}");
        }
        for piece in &pieces[1..] {
            assert!(piece.starts_with(' '), "{piece}");
        }
    }

    #[test]
    fn without_sentences_words_stay_whole_and_without_words_characters_do() {
        let words = "wörter ".repeat(4_000);
        let cut = pieces(&words, MOST);
        assert_cover(&words, &cut);
        assert!(
            cut.iter()
                .all(|p| p.split_whitespace().all(|w| w == "wörter"))
        );
        for text in ["x".repeat(20_000), "漢".repeat(20_000), "。".repeat(20_000)] {
            let cut = pieces(&text, MOST);
            assert_cover(&text, &cut);
            assert!(cut.len() <= 12, "{}", cut.len());
        }
    }

    #[test]
    fn a_category_that_one_piece_lacks_is_scored_for_none() {
        let scores = |violence, spam: Option<f64>| -> Scores {
            [(Category::Violence, violence)]
                .into_iter()
                .chain(spam.map(|score| (Category::Spam, score)))
                .collect()
        };
        let merged = merge(&[scores(0.1, None), scores(0.7, None)]).unwrap();
        assert_eq!(merged, scores(0.7, None));
        assert!(merge(&[scores(0.1, Some(0.9)), scores(0.7, None)]).is_err());
    }
}
