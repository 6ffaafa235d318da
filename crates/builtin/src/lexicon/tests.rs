//! Sentences by hand, with the band in which each score must fall.

mod sentences;

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use Category::{Adult, Harassment, Hate, Illicit, SelfHarm, Spam, Violence};

/// Nothing; worth a look; obvious.
const LOW: std::ops::Range<f64> = 0.0..0.35;
const SOME: std::ops::Range<f64> = 0.35..0.8;
const HIGH: std::ops::Range<f64> = 0.8..1.01;

static ANALYSER: LazyLock<Analyser> = LazyLock::new(Analyser::new);

fn score(text: &str, category: Category) -> f64 {
    ANALYSER.analyse(text).get(category).unwrap()
}

fn check(category: Category, table: &[(&str, std::ops::Range<f64>)]) {
    let wrong: Vec<_> = table
        .iter()
        .filter_map(|(text, band)| {
            let score = ANALYSER.analyse(text).get(category)?;
            (!band.contains(&score)).then(|| format!("{text}: {score:.3}, not in {band:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{category}: {wrong:#?}");
}

#[test]
fn context_moves_a_score_in_its_direction() {
    let less = |weaker: &str, stronger: &str, category| {
        let (low, high) = (score(weaker, category), score(stronger, category));
        assert!(low < high, "{weaker}: {low}, {stronger}: {high}");
    };
    less("never kill her", "kill her", Violence);
    less("stab", "stab you", Violence);
    less("stab you", "going to stab you", Violence);
    less("you stupid man", "you really stupid man", Harassment);
    less("he said \"you idiot\" to us", "you idiot", Harassment);
    less("a novel about suicide", "suicide", SelfHarm);
    less("murder. not you", "murder you", Violence);
}

#[test]
fn what_cannot_be_scored_is_absent() {
    assert_eq!(ANALYSER.analyse("child").get(Category::SexualMinors), None);
    assert!(
        ANALYSER
            .analyse("今天天气很好，我们去公园散步。")
            .is_empty()
    );
    let mixed = ANALYSER.analyse("今天天气很好，我们去公园散步。 kill yourself");
    assert!(mixed.get(SelfHarm).is_some_and(|score| score > 0.8));
    assert_eq!(mixed.get(Spam), None);
    let unread = "Ich hasse dich so sehr, du wirst schon sehen";
    assert!(ANALYSER.analyse(unread).is_empty());
    let mixed = ANALYSER.analyse(&format!("{unread}. kill yourself"));
    assert!(mixed.get(SelfHarm).is_some_and(|score| score > 0.8));
    assert_eq!(mixed.get(Spam), None);
    for text in ["", "12345", "🔥🔥", "ｈｅｌｌｏ"] {
        assert_eq!(
            ANALYSER.analyse(text).iter().count(),
            CATEGORIES.len(),
            "{text}"
        );
    }
}

#[test]
fn phrases_of_other_languages_count_in_texts_that_are_not_english() {
    for (text, category) in [
        ("Ich bringe dich um", Violence),
        ("ICH WERDE DICH TÖTEN!!!", Violence),
        ("Te voy a m4tar, lo sabes", Violence),
        ("Je veux mourir, je n'en peux plus", SelfHarm),
    ] {
        let scores = ANALYSER.analyse(text);
        let found: Vec<Category> = scores.iter().map(|(category, _)| category).collect();
        assert_eq!(found, [category], "{text}");
        assert!(scores.get(category) > Some(0.7), "{text}: {scores:?}");
    }
    let english = ANALYSER.analyse("My teacher of Spanish would not tell us what a zorra is.");
    assert_eq!(english.get(Category::Harassment), Some(0.0), "{english:?}");
}

#[test]
fn every_term_of_the_lexicon_is_findable_and_listed_once() {
    let mut seen = std::collections::HashSet::new();
    for entry in LEXICON {
        for term in entry.terms.split('|') {
            assert!(
                Matcher::is_findable(term) && term == term.trim(),
                "`{term}`"
            );
            let is_sign = matches!(entry.role, Role::Sign { .. });
            assert!(!is_sign || seen.insert(term), "`{term}` is listed twice");
        }
    }
}

proptest! {
    #[test]
    fn any_text_gets_scores_in_range_and_the_same_again(text in "(\\PC|kill |you |\"|not |\\. ){0,40}") {
        let scores = ANALYSER.analyse(&text);
        prop_assert!(scores.iter().all(|(_, score)| (0.0..=1.0).contains(&score)));
        prop_assert_eq!(scores, ANALYSER.analyse(&text));
    }
}
