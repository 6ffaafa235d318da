//! How long texts are cut, and how the scores of pieces are merged.

use super::*;

const MOST: usize = 8_000;

/// Asserts that the pieces are parts of the text in order, cover all of it, and overlap.
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
