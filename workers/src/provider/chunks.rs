//! Long texts in pieces that a provider takes: cut where a sentence ends, or else a word, and overlapping, so that nothing
//! hides on a seam. Each category gets the maximum over the pieces.

use domain::score::{Category, Scores};

use super::{Answer, wire::MAX_KEPT};

/// Bytes that a piece shares with the one before: a few sentences.
const OVERLAP: usize = 400;

/// The fewest bytes of a piece: so many that most of it is new.
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

/// The answers to all pieces, made one: the maximum per category. A category that some piece has no score of has none: its maximum
/// over the others would pass for the whole text's.
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
        let merged = |pieces: [Scores; 2]| merge(pieces.iter().map(|scores| (scores, None))).scores;
        assert_eq!(
            merged([scores(0.1, None), scores(0.7, None)]),
            scores(0.7, None)
        );
        assert_eq!(
            merged([scores(0.1, Some(0.9)), scores(0.7, Some(0.2))]),
            scores(0.7, Some(0.9))
        );
        assert_eq!(
            merged([scores(0.1, Some(0.9)), scores(0.7, None)]),
            scores(0.7, None)
        );
    }

    #[test]
    fn what_was_answered_to_all_pieces_is_kept_in_their_order_and_bounded() {
        let scores = Scores::default();
        let raw = |pieces: &[&str]| merge(pieces.iter().map(|raw| (&scores, Some(*raw)))).raw;
        assert_eq!(raw(&["1", "2"]).as_deref(), Some("1\n2"));
        let long = "ü".repeat(MAX_KEPT / 3);
        let kept = raw(&[&long, &long, &long]).unwrap();
        assert!(kept.len() <= MAX_KEPT + 1 && kept.ends_with('ü'));
    }
}
