//! Answers as the official API documents them.

use serde_json::Value;

use super::*;

fn assessment(filters: &[(&str, &str)]) -> Value {
    let filters: Vec<Value> = filters
        .iter()
        .map(|(kind, confidence)| {
            json!({ "type": kind, "confidence": confidence, "filterStrength": "HIGH", "action": "NONE" })
        })
        .collect();
    json!({ "contentPolicy": { "filters": filters }, "invocationMetrics": {} })
}

fn answer_of(assessments: &[Value]) -> Vec<u8> {
    let answer = json!({
        "usage": { "contentPolicyUnits": 1 },
        "action": "NONE",
        "outputs": [],
        "assessments": assessments,
    });
    serde_json::to_vec(&answer).unwrap()
}

fn answer(filters: &[(&str, &str)]) -> Vec<u8> {
    answer_of(&[assessment(filters)])
}

#[test]
fn of_several_guardrails_the_most_confident_counts() {
    let own = assessment(&[("VIOLENCE", "LOW"), ("HATE", "MEDIUM"), ("SEXUAL", "NONE")]);
    let enforced = assessment(&[("VIOLENCE", "HIGH"), ("HATE", "LOW")]);
    let without_filters = json!({ "topicPolicy": { "topics": [] } });
    let body = answer_of(&[own, enforced, without_filters]);
    let scores = read(&body, Guardrail::CATEGORIES).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 0.0),
            (Category::Violence, 1.0),
            (Category::Hate, 0.7),
        ]
    );
}

#[test]
fn words_are_scores_and_a_filter_that_the_guardrail_lacks_is_absent() {
    let body = answer(&[
        ("SEXUAL", "NONE"),
        ("VIOLENCE", "LOW"),
        ("HATE", "MEDIUM"),
        ("MISCONDUCT", "HIGH"),
        ("PROMPT_ATTACK", "HIGH"),
    ]);
    let scores = read(&body, Guardrail::CATEGORIES).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 0.0),
            (Category::Violence, 0.35),
            (Category::Hate, 0.7),
            (Category::Illicit, 1.0),
        ]
    );
    let nothing = serde_json::to_vec(&json!({ "assessments": [{}] })).unwrap();
    assert!(read(&nothing, Guardrail::CATEGORIES).unwrap().is_empty());
}

#[test]
fn everything_else_is_malformed() {
    for body in [
        answer(&[("HATE", "SURE")]),
        b"{}".to_vec(),
        br#"{"assessments":[]}"#.to_vec(),
        b"<html>".to_vec(),
    ] {
        assert!(read(&body, &[Category::Hate]).is_err());
    }
}
