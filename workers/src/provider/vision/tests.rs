//! Answers as Google documents them.

use super::*;

fn read_one(annotated: &serde_json::Value) -> Result<Scores, ProviderError> {
    let body = serde_json::to_vec(&json!({ "responses": [annotated] })).unwrap();
    read(&body, Vision::CATEGORIES)
}

#[test]
fn likelihoods_are_quarters_and_an_unknown_one_is_absent() {
    for (adult, violence, expected) in [
        (
            json!("VERY_UNLIKELY"),
            json!("VERY_LIKELY"),
            [Some(0.0), Some(1.0)],
        ),
        (json!("UNLIKELY"), json!("LIKELY"), [Some(0.25), Some(0.75)]),
        (json!("POSSIBLE"), json!("UNKNOWN"), [Some(0.5), None]),
    ] {
        let found = json!({ "adult": adult, "violence": violence, "racy": "VERY_LIKELY" });
        let scores = read_one(&json!({ "safeSearchAnnotation": found })).unwrap();
        let found = Vision::CATEGORIES.iter().map(|c| scores.get(*c));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
    let unsaid = read_one(&json!({ "safeSearchAnnotation": { "adult": "LIKELY" } })).unwrap();
    assert_eq!(unsaid.get(Category::Violence), None);
}

#[test]
fn an_error_within_an_answer_is_one() {
    let told = |code| read_one(&json!({ "error": { "code": code, "message": "m" } }));
    assert!(matches!(told(8), Err(ProviderError::Limited { .. })));
    assert!(matches!(told(14), Err(ProviderError::Failed(_))));
    assert!(matches!(told(3), Err(ProviderError::Refused(_))));
    let both = json!({ "error": { "code": 3 }, "safeSearchAnnotation": { "adult": "UNLIKELY" } });
    assert!(read_one(&both).is_err());
}

#[test]
fn everything_else_is_malformed() {
    for annotated in [
        json!({}),
        json!(null),
        json!({ "safeSearchAnnotation": null }),
        json!({ "safeSearchAnnotation": { "adult": "SURELY" } }),
        json!({ "safeSearchAnnotation": { "adult": 5 } }),
    ] {
        assert!(read_one(&annotated).is_err(), "{annotated}");
    }
    for body in ["{}", r#"{"responses":[]}"#, "<html>"] {
        assert!(read(body.as_bytes(), Vision::CATEGORIES).is_err(), "{body}");
    }
}
