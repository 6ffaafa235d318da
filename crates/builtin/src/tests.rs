use std::sync::Arc;

use domain::score::{Category, Scores};

use crate::{lexicon::Analyser as Lexicon, text::Encoder};

use super::{Analyser, CATEGORIES, either, without_mentions};

fn scored(scores: &Scores) -> Vec<Category> {
    scores.iter().map(|(category, _)| category).collect()
}

#[test]
fn every_category_of_an_english_text_has_a_score_of_three_digits() {
    let scores = Analyser::new().analyse("The bakery on the corner opens at seven in the morning.");
    assert_eq!(scored(&scores), CATEGORIES);
    for (category, score) in scores.iter() {
        assert!(score < 0.2, "{category} {score}");
        assert!((score * 1_000.0).fract().abs() < 1e-6, "{category} {score}");
    }
}

#[test]
fn the_models_find_what_the_lexicon_does_not_know() {
    let text = "All Muslims are terrorists and should be kicked out.";
    let hate = |scores: Scores| scores.get(Category::Hate).unwrap();
    assert!(hate(Lexicon::new().analyse(text)) < 0.2);
    assert!(hate(Analyser::new().analyse(text)) > 0.4);
}

#[test]
fn the_models_read_disguised_words_as_what_they_mean() {
    let analyser = Analyser::new();
    for text in [
        "All Muslims are terrorists and should be kicked out.",
        "All Mu5lim5 are t3rr0rist5 and should be k1cked out.",
        "All M u s l i m s are t.e.r.r.o.r.i.s.t.s and should be kicked out.",
        "All \u{039c}usl\u{0456}ms are terr\u{043e}r\u{0456}sts and should be kicked out.",
    ] {
        let hate = analyser.analyse(text).get(Category::Hate);
        assert!(hate.is_some_and(|score| score > 0.4), "{text}: {hate:?}");
    }
}

#[test]
fn mentions_are_left_out_and_signs_for_letters_remain() {
    for (text, kept) in [
        ("no sign", "no sign"),
        ("@ada and @b_2, hello", " and , hello"),
        ("write to ada@example.com", "write to ada@example.com"),
        ("you h@ter @$$ @", "you h@ter @$$ @"),
        ("", ""),
    ] {
        assert_eq!(without_mentions(text), kept);
    }
}

#[test]
fn a_threat_counts_as_much_as_in_the_lexicon_alone() {
    let text = "I am going to kill you tonight.";
    let violence = |scores: Scores| scores.get(Category::Violence).unwrap();
    let lexicon = violence(Lexicon::new().analyse(text));
    assert!(lexicon > 0.8);
    assert!(violence(Analyser::new().analyse(text)) >= lexicon);
}

#[test]
fn the_lexicon_alone_scores_what_the_models_do_not_know() {
    let text = "Earn $5000 a week from home, click here, limited offer!!!";
    let lexicon = Lexicon::new().analyse(text).get(Category::Spam).unwrap();
    assert!(lexicon > 0.3);
    let both = Analyser::new().analyse(text).get(Category::Spam).unwrap();
    assert!((both - lexicon).abs() < 0.001);
}

#[test]
fn in_another_language_only_findings_are_scored() {
    let analyser = Analyser::new();
    let plain = analyser.analyse("Wir gehen morgen zusammen in den Park, wenn es nicht regnet.");
    assert_eq!(scored(&plain), []);
    let threat = analyser.analyse("Ich bringe dich um, wenn du noch einmal hierher kommst.");
    assert_eq!(scored(&threat), [Category::Violence]);
    let insult = analyser.analyse("Du bist so ein Idiot, niemand will dich hier haben.");
    assert_eq!(scored(&insult), [Category::Harassment]);
}

#[test]
fn the_encoder_is_asked_only_if_the_linear_model_is_not_sure() {
    // A tiny encoder with numbers drawn by chance, so its scores are anything.
    let file = include_bytes!("../text/golden/encoder.ght");
    let encoder = Arc::new(Encoder::read(file).unwrap());
    let (linear, both) = (
        Analyser::new(),
        Analyser::new().with_encoder(Arc::clone(&encoder)),
    );
    let sure = "The bakery on the corner opens at seven in the morning.";
    assert_eq!(linear.analyse(sure), both.analyse(sure));
    let unsure = "Immigrants ruin every country they come to and should all be deported.";
    assert_ne!(linear.analyse(unsure), both.analyse(unsure));
}

#[test]
fn one_sign_more_never_lowers_a_score() {
    for (one, other, result) in [
        (0.0, 0.0, 0.0),
        (0.5, 0.0, 0.5),
        (0.5, 0.5, 0.75),
        (1.0, 0.3, 1.0),
    ] {
        assert!((either(one, other) - result).abs() < 1e-9);
        assert!((either(other, one) - result).abs() < 1e-9);
    }
}

#[test]
fn a_text_without_letters_says_nothing() {
    for text in ["?", "!!!", "12345", "\u{1f525}\u{1f525}", "", "..."] {
        let scores = Analyser::new().analyse(text);
        assert!(
            scores.iter().all(|(_, score)| score < 0.1),
            "{text}: {scores:?}"
        );
    }
}
