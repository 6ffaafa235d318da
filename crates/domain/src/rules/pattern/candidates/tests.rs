//! Which patterns remain for a text. No matching pattern may be missing.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::rules::Limits;

fn candidates(patterns: &[Hir]) -> Candidates {
    let clock = || Duration::ZERO;
    let automata = vec![(0, 0); patterns.len()];
    Candidates::new(
        patterns,
        &automata,
        &mut Meter::new(Limits::default(), &clock),
    )
    .unwrap()
}

#[test]
fn the_literal_that_fewest_patterns_need_is_looked_for() {
    let patterns = [
        "alphabet[0-9]+\\.example\\.com",
        "cabinets[0-9]+\\.example\\.com",
    ];
    let parsed = patterns.map(|pattern| regex_syntax::parse(pattern).unwrap());
    let candidates = candidates(&parsed);
    let found = |text| candidates.of(text, &SetCaches::new(0)).collect::<Vec<_>>();
    assert_eq!(found("shop1.example.com"), [0; 0]);
    assert_eq!(found("cabinets7.example.com"), [1]);
}

proptest! {
    #[test]
    fn no_pattern_that_matches_is_missed(
        pattern in "(\\(\\?i\\))?([aAbk]{1,4}|\\[ab\\]\\+|\\.|ſ|\\\\b){1,4}(\\|[abK]{3,5})?", text in "[aAbBkKſK]{0,12}",
    ) {
        let hir = regex_syntax::parse(&pattern).unwrap();
        let regex = regex_automata::meta::Regex::builder().build_from_hir(&hir).unwrap();
        if regex.is_match(&text) {
            let candidates = candidates(&[hir]);
            prop_assert_eq!(candidates.of(&text, &SetCaches::new(0)).count(), 1);
        }
    }
}

fn literals(pattern: &str) -> Vec<Vec<String>> {
    choices(&regex_syntax::parse(pattern).unwrap())
        .into_iter()
        .map(|literals| {
            literals
                .into_iter()
                .map(|l| String::from_utf8(l).unwrap())
                .collect()
        })
        .collect()
}

#[test]
fn literals_are_taken_from_either_end_and_from_inside() {
    assert_eq!(literals("review-\\d{4}"), [["review-"]]);
    assert_eq!(literals("[a-z]+@example\\.com")[0], ["@example.com"]);
    assert_eq!(literals("[a-z]+inside\\d*"), [["inside"]]);
    assert_eq!(literals("(?i)\\w+fob\\w+"), [["fob"]]);
    assert_eq!(literals("\\w+").len(), 0);
    assert_eq!(literals("ab|[0-9]+").len(), 0);
}
