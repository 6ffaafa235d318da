//! Answers as Azure documents them.

use serde_json::Value;

use super::*;

fn answer(findings: &Value) -> Vec<u8> {
    let answer = json!({ "blocklistsMatch": [], "categoriesAnalysis": findings });
    serde_json::to_vec(&answer).unwrap()
}

#[test]
fn a_score_is_a_severity_s_part_of_6() {
    for (severity, expected) in [(0, 0.0), (2, 1.0 / 3.0), (3, 0.5), (6, 1.0), (7, 1.0)] {
        let body = answer(&json!([{ "category": "Violence", "severity": severity }]));
        let scores = read(&body, &[Harm::Violence]).unwrap();
        assert_eq!(scores.get(Category::Violence), Some(expected));
        assert_eq!(scores.get(Category::Hate), None);
    }
}

#[test]
fn everything_but_what_was_asked_for_is_malformed() {
    let hate = json!({ "category": "Hate", "severity": 2 });
    let violence = json!({ "category": "Violence", "severity": 2 });
    for findings in [
        json!([]),
        json!([hate]),
        json!([hate, hate]),
        json!([hate, violence, violence]),
        json!([hate, { "category": "Violence" }]),
        json!([hate, { "category": "Violence", "severity": null }]),
        json!([hate, { "category": "Violence", "severity": 8 }]),
        json!([hate, { "category": "Violence", "severity": -1 }]),
        json!([hate, { "category": "Gore", "severity": 2 }]),
    ] {
        let read = read(&answer(&findings), &[Harm::Hate, Harm::Violence]);
        assert!(read.is_err(), "{findings}");
    }
    assert!(read(b"<html>", &[Harm::Hate]).is_err());
}
