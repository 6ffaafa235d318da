//! Answers as Google documents them.

use serde_json::Value;

use super::*;

fn answer(confidences: &[(&str, Value)], is_known: bool) -> Vec<u8> {
    let categories: Vec<Value> = confidences
        .iter()
        .map(|(name, confidence)| json!({ "name": name, "confidence": confidence }))
        .collect();
    let answer = json!({
        "moderationCategories": categories, "languageCode": "en", "languageSupported": is_known,
    });
    serde_json::to_vec(&answer).unwrap()
}

const ALL: [(&str, f64); 7] = [
    ("Toxic", 0.5),
    ("Insult", 0.75),
    ("Derogatory", 0.25),
    ("Violent", 0.125),
    ("Sexual", 0.0),
    ("Illicit Drugs", 0.0625),
    ("Politics", 0.9),
];

#[test]
fn categories_are_mapped_by_the_maximum() {
    let told = ALL.map(|(name, score)| (name, json!(score)));
    let scores = read(&answer(&told, true), NaturalLanguage::CATEGORIES).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 0.0),
            (Category::Violence, 0.125),
            (Category::Hate, 0.25),
            (Category::Harassment, 0.75),
            (Category::Illicit, 0.0625),
        ]
    );
}

#[test]
fn a_text_in_an_unknown_language_is_not_scored() {
    let told = ALL.map(|(name, score)| (name, json!(score)));
    let scores = read(&answer(&told, false), NaturalLanguage::CATEGORIES).unwrap();
    assert!(scores.is_empty());
}

#[test]
fn of_a_category_that_is_told_twice_the_higher_confidence_counts() {
    let body = answer(&[("Violent", json!(0.97)), ("Violent", json!(0.01))], true);
    let scores = read(&body, &[Category::Violence]).unwrap();
    assert_eq!(scores.get(Category::Violence), Some(0.97));
}

#[test]
fn half_an_answer_is_malformed() {
    let told = |name, score: Value| answer(&[(name, score)], true);
    for body in [
        told("Insult", json!(0.5)),
        told("Toxic", json!(1.5)),
        told("Toxic", json!("0.5")),
        answer(&[], true),
        b"{}".to_vec(),
        b"[]".to_vec(),
        b"<html>".to_vec(),
    ] {
        assert!(read(&body, &[Category::Harassment]).is_err());
    }
}
