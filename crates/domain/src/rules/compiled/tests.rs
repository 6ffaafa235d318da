//! Groups, from their definition to their violations.

mod cost;
mod errors;

use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::rules::{Evidence, RuleBody, RuleEffect, RuleType, View};

fn compile(bodies: Value) -> Result<CompiledGroup, RuleErrors> {
    let bodies: Vec<RuleBody> = serde_json::from_value(bodies).unwrap();
    let rules: Vec<Rule> = bodies
        .into_iter()
        .enumerate()
        .map(|(at, body)| body.into_rule(Uuid::from_u128(at as u128).into()))
        .collect();
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
}

fn examine(group: &CompiledGroup, text: &str) -> Vec<Violation> {
    group.examine(&Content {
        text: Some(text),
        scores: &Scores::new(),
        image_matches: &[],
    })
}

fn names(group: &CompiledGroup, text: &str) -> Vec<String> {
    examine(group, text)
        .into_iter()
        .map(|violation| violation.rule_name)
        .collect()
}

#[test]
fn each_rule_answers_once_in_the_order_of_the_group() {
    let group = compile(json!([
        {"name": "c", "type": "regex", "pattern": "review-\\d{4}", "effect": "review"},
        {"name": "t", "type": "ai_threshold", "category": "hate", "review_at": 0.5, "reject_at": 0.9},
        {"name": "a", "type": "keyword", "keywords": ["blockedword", "other"], "effect": "reject"},
        {"name": "off", "enabled": false, "type": "keyword", "keywords": ["other"], "effect": "reject"},
        {"name": "b", "type": "keyword", "keywords": ["LOCK"], "matching": "substring", "effect": "review"},
    ]))
    .unwrap();
    let scores = [(Category::Hate, 0.95)].into_iter().collect();
    let text = "Other Bl0ckedWord, blockedword: review-1234, review-9999";
    let found = group.examine(&Content {
        text: Some(text),
        scores: &scores,
        image_matches: &[],
    });
    let told: Vec<_> = found
        .iter()
        .map(|v| (v.rule_name.as_str(), v.rule_type, v.effect, v.confidence))
        .collect();
    assert_eq!(
        told,
        [
            ("c", RuleType::Regex, RuleEffect::Review, 1.0),
            ("t", RuleType::AiThreshold, RuleEffect::Reject, 0.95),
            ("a", RuleType::Keyword, RuleEffect::Reject, 1.0),
            ("b", RuleType::Keyword, RuleEffect::Review, 1.0),
        ]
    );
    assert_eq!(found[0].matched_text.as_deref(), Some("r*********4"));
    assert_eq!(found[1].matched_text, None);
    assert!(group.uses_ai() && group.examines_text());
    assert_eq!(group.categories(), [Category::Hate]);
}

#[test]
fn a_violation_says_where_it_was_found_in_the_original() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["blockedword"], "effect": "reject"},
    ]))
    .unwrap();
    for (text, place, view) in [
        (
            "so: bl\u{200B}öckedword",
            "bl\u{200B}öckedword",
            View::Folded,
        ),
        (
            "é b.l.o.c.k.e.d.w.o.r.d.",
            "b.l.o.c.k.e.d.w.o.r.d",
            View::Loose,
        ),
        ("é bl0ckedwоrd!", "bl0ckedwоrd", View::Loose),
    ] {
        let found = examine(&group, text);
        let Evidence::Text {
            view: seen, span, ..
        } = &found[0].evidence
        else {
            panic!("{text}")
        };
        assert_eq!((&text[span.clone()], *seen), (place, view));
        let masked = found[0].matched_text.as_deref().unwrap();
        assert_eq!(masked, crate::text::mask(place));
    }
}

#[test]
fn exceptions_excuse_only_what_lies_within_them() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["ass"], "matching": "substring",
         "exceptions": ["class", "Ässess", "harass"], "effect": "reject"},
        {"name": "r", "type": "regex", "pattern": "\\d{4}", "exceptions": ["since 1999"], "effect": "review"},
    ]))
    .unwrap();
    for (text, expected) in [
        ("a first-class CLÁSS, assessed", &[] as &[&str]),
        ("classy ass", &["k"]),
        ("hass", &["k"]),
        ("mass class", &["k"]),
        ("Since 1999", &[]),
        ("since 1999, until 2001", &["r"]),
        ("não: since\u{200B} 1999", &[]),
    ] {
        assert_eq!(names(&group, text), expected, "{text}");
    }
}

#[test]
fn matches_beyond_what_exceptions_are_held_against_count() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["a"], "matching": "substring",
         "exceptions": ["aa"], "effect": "reject"},
    ]))
    .unwrap();
    assert_eq!(names(&group, &"a".repeat(100_000)), [""; 0]);
    assert_eq!(names(&group, &"a".repeat(100_001)), ["k"]);
}

#[test]
fn what_is_absent_violates_nothing() {
    let group = compile(json!([
        {"name": "t", "type": "ai_threshold", "category": "hate", "review_at": 0.0},
        {"name": "k", "type": "keyword", "keywords": ["a"], "effect": "reject"},
    ]))
    .unwrap();
    let scores = [(Category::Adult, 1.0)].into_iter().collect();
    assert_eq!(
        group.examine(&Content {
            text: None,
            scores: &scores,
            image_matches: &[],
        }),
        []
    );
    assert_eq!(names(&group, ""), [""; 0]);
}

#[test]
fn an_empty_or_disabled_group_examines_nothing() {
    let group = compile(json!([
        {"name": "t", "enabled": false, "type": "ai_threshold", "category": "hate", "review_at": 0.1},
        {"name": "r", "enabled": false, "type": "regex", "pattern": ".", "effect": "reject"},
    ]))
    .unwrap();
    assert!(!group.uses_ai() && !group.examines_text());
    assert_eq!(names(&group, "anything"), [""; 0]);
}

proptest! {
    #[test]
    fn any_text_is_examined_places_are_on_character_boundaries_and_masks_hide_them(text in "(\\PC|[a-c1!. ]){0,60}") {
        let group = compile(json!([
            {"name": "s", "type": "keyword", "keywords": ["a", "b", "ab"], "matching": "substring",
             "exceptions": ["bab"], "effect": "reject"},
            {"name": "w", "type": "keyword", "keywords": ["abc", "bca", "a b"], "effect": "reject"},
            {"name": "r", "type": "regex", "pattern": "\\w.", "exceptions": ["ab"], "effect": "review"},
        ])).unwrap();
        for violation in examine(&group, &text) {
            let Evidence::Text { span, .. } = violation.evidence else { unreachable!() };
            let part = text.get(span).unwrap_or_default();
            prop_assert!(!part.is_empty());
            let length = part.chars().count();
            let masked: Vec<char> = violation.matched_text.unwrap_or_default().chars().collect();
            prop_assert_eq!(masked.len(), length);
            let shown = if length < 4 { 0..length } else { 1..length - 1 };
            prop_assert!(masked[shown].iter().all(|c| *c == '*'), "{:?} shows {:?}", masked, part);
        }
    }
}
