//! Answers as Hive documents them.

use serde_json::Value;

use super::*;

fn answer(moments: &[&[(&str, f64)]]) -> Vec<u8> {
    let output: Vec<Value> = moments
        .iter()
        .map(|classes| {
            let classes: Vec<Value> = classes
                .iter()
                .map(|(class, score)| json!({ "class": class, "score": score }))
                .collect();
            json!({ "time": 0, "classes": classes })
        })
        .collect();
    let answer = json!({ "code": 200, "status": [{ "response": { "output": output } }] });
    serde_json::to_vec(&answer).unwrap()
}

#[test]
fn severities_are_parts_of_3_and_an_unknown_language_is_no_score() {
    let body = answer(&[
        &[
            ("sexual", 0.0),
            ("hate", 3.0),
            ("drugs", 1.0),
            ("weapons", -1.0),
        ],
        &[
            ("sexual", 1.5),
            ("hate", 1.0),
            ("drugs", 0.0),
            ("weapons", -1.0),
        ],
    ]);
    let categories = [Category::Adult, Category::Hate, Category::Illicit];
    let scores = of_text(&body, &categories).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [(Category::Adult, 0.5), (Category::Hate, 1.0)]
    );
}

#[test]
fn a_part_in_an_unknown_language_is_not_hidden_by_one_in_a_known_language() {
    let body = answer(&[&[("hate", -1.0)], &[("hate", 0.0)]]);
    let scores = of_text(&body, &[Category::Hate]).unwrap();
    assert_eq!(scores.get(Category::Hate), None);
}

#[test]
fn of_an_image_the_most_certain_class_counts() {
    let body = answer(&[&[
        ("very_bloody", 0.25),
        ("human_corpse", 0.5),
        ("yes_fight", 0.125),
        ("no_fight", 0.875),
    ]]);
    let scores = of_image(&body, &[Category::Violence]).unwrap();
    assert_eq!(scores.get(Category::Violence), Some(0.5));
}

#[test]
fn half_an_answer_is_malformed() {
    for body in [
        answer(&[]),
        answer(&[&[("hate", 4.0)]]),
        answer(&[&[("hate", -0.5)]]),
        answer(&[&[("hate", -0.5)], &[("hate", 1.0)]]),
        answer(&[&[("sexual", 1.0)]]),
        br#"{"status":[]}"#.to_vec(),
        b"<html>".to_vec(),
    ] {
        assert!(of_text(&body, &[Category::Hate]).is_err());
        assert!(of_image(&body, &[Category::Hate]).is_err());
    }
}
