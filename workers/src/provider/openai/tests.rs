//! Answers as the service and compatible servers give them.

use picture::Rendition;
use serde_json::{Value, json};

use super::*;

fn result() -> Value {
    json!({
        "sexual": 0.1, "sexual/minors": 0.4, "violence": 0.2, "violence/graphic": 0.7, "hate": 0.1,
        "hate/threatening": 0.2, "harassment": 0, "harassment/threatening": 0, "self-harm": 0,
        "self-harm/intent": 0, "self-harm/instructions": 0.3, "illicit": null, "illicit/violent": null, "new": 0.9,
    })
}

fn answer(results: &[Value]) -> Vec<u8> {
    let results: Vec<_> = results
        .iter()
        .map(|scores| json!({"flagged": true, "category_scores": scores}))
        .collect();
    serde_json::to_vec(&json!({"id": "m", "model": "omni", "results": results})).unwrap()
}

#[test]
fn categories_are_mapped_by_the_maximum_and_unknown_scores_are_absent() {
    let scores = read(&answer(&[result()]), Modality::Text, OpenAi::TEXT, 0.5).unwrap();
    assert_eq!(scores.get(Category::Adult), Some(0.4));
    assert_eq!(scores.get(Category::Violence), Some(0.7));
    assert_eq!(scores.get(Category::SelfHarm), Some(0.3));
    assert_eq!(scores.get(Category::Harassment), Some(0.0));
    assert_eq!(scores.get(Category::Illicit), None);
    assert_eq!(scores.get(Category::Spam), None);
}

#[test]
fn what_is_flagged_counts_at_least_as_much_as_the_operator_says() {
    let body = json!({ "results": [{
        "flagged": true,
        "categories": { "sexual/minors": true, "violence": true, "hate": false },
        "category_scores": {
            "sexual": 0.2, "sexual/minors": 0.31, "violence": 0.9, "violence/graphic": 0, "hate": 0.3,
            "hate/threatening": 0,
        },
    }] });
    let body = serde_json::to_vec(&body).unwrap();
    let categories = [Category::SexualMinors, Category::Violence, Category::Hate];
    for (least, expected) in [(0.5, 0.5), (0.8, 0.8), (0.0, 0.31)] {
        let scores = read(&body, Modality::Text, &categories, least).unwrap();
        assert_eq!(scores.get(Category::SexualMinors), Some(expected));
        assert_eq!(scores.get(Category::Violence), Some(0.9));
        assert_eq!(scores.get(Category::Hate), Some(0.3));
    }
}

#[test]
fn only_what_is_to_be_scored_is() {
    let scores = read(
        &answer(&[result()]),
        Modality::Text,
        &[Category::Violence],
        0.5,
    )
    .unwrap();
    assert_eq!(scores.iter().count(), 1);
}

#[test]
fn half_an_answer_and_a_foreign_one_are_malformed() {
    let mut without = result();
    without.as_object_mut().unwrap().remove("violence/graphic");
    let mut beyond = result();
    beyond["hate"] = json!(1.5);
    for body in [
        answer(&[]),
        answer(&[result(), result()]),
        answer(&[without]),
        answer(&[beyond]),
        answer(&[json!({"gore": 1})]),
        b"{}".to_vec(),
        b"<html>".to_vec(),
    ] {
        let read = read(&body, Modality::Text, OpenAi::TEXT, 0.5);
        assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
    }
}

/// The service's answer to an image. Categories that it did not look for are 0.
fn answer_to_image(applied: &Value) -> Vec<u8> {
    let result = json!({
        "flagged": true,
        "category_scores": {
            "sexual": 0.1, "sexual/minors": 0, "violence": 0.2, "violence/graphic": 0.7, "hate": 0,
            "hate/threatening": 0, "harassment": 0, "harassment/threatening": 0, "self-harm": 0.01,
            "self-harm/intent": 0.02, "self-harm/instructions": 0.03, "illicit": 0, "illicit/violent": 0,
        },
        "category_applied_input_types": applied,
    });
    serde_json::to_vec(&json!({"id": "m", "model": "omni", "results": [result]})).unwrap()
}

#[test]
fn what_was_not_looked_for_in_an_image_is_absent_although_it_comes_back_as_0() {
    let applied = json!({
        "sexual": ["image"], "sexual/minors": [], "violence": ["image"], "violence/graphic": ["image"], "hate": [],
        "hate/threatening": [], "harassment": [], "harassment/threatening": [], "self-harm": ["image"],
        "self-harm/intent": ["image"], "self-harm/instructions": ["image"], "illicit": [], "illicit/violent": [],
    });
    // Even if all of them were requested.
    let read = |body: &[u8]| read(body, Modality::Image, OpenAi::TEXT, 0.5);
    let scores = read(&answer_to_image(&applied)).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 0.1),
            (Category::Violence, 0.7),
            (Category::SelfHarm, 0.03)
        ]
    );
    for unsaid in [json!({}), json!({ "sexual": ["image"] })] {
        assert!(read(&answer_to_image(&unsaid)).is_err(), "{unsaid}");
    }
}

#[test]
fn what_was_not_looked_for_in_a_text_is_absent_and_a_server_that_does_not_tell_is_believed() {
    let body = |applied: &Value| {
        let mut scores = result();
        scores["illicit"] = json!(0);
        scores["illicit/violent"] = json!(0);
        let result = json!({ "category_scores": scores, "category_applied_input_types": applied });
        serde_json::to_vec(&json!({ "results": [result] })).unwrap()
    };
    let read = |body: &[u8]| {
        let categories = [Category::Illicit, Category::Violence];
        read(body, Modality::Text, &categories, 0.5).unwrap()
    };
    let told = json!({ "illicit": [], "illicit/violent": [], "violence": ["text"] });
    let scores = read(&body(&told));
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [(Category::Violence, 0.7)]
    );
    let untold = read(&body(&json!({})));
    assert_eq!(untold.get(Category::Illicit), Some(0.0));
}

#[test]
fn a_score_that_is_there_twice_is_malformed() {
    let body = br#"{"results":[{"category_scores":{"sexual/minors":0.97,"sexual/minors":0.01}}]}"#;
    let read = read(body, Modality::Text, &[Category::SexualMinors], 0.5);
    assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
}

#[test]
fn an_image_is_one_part_with_its_bytes() {
    let image = Rendition {
        format: ImageFormat::Png,
        bytes: vec![0, 1].into(),
    };
    assert_eq!(
        input(Content::Image(&image)),
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAE=" } })
    );
}
