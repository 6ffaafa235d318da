//! Answers as Sightengine documents them.

use serde_json::{Value, json};

use super::*;
use crate::provider::Sightengine;

fn result() -> Value {
    json!({
        "status": "success",
        "request": { "id": "req_1", "timestamp": 1.5, "operations": 5 },
        "nudity": {
            "sexual_activity": 0.5, "sexual_display": 0.375, "erotica": 0.25, "very_suggestive": 0.01, "none": 0.01,
            "context": { "outdoor_other": 0.9 },
        },
        "gore": { "prob": 0.75 },
        "violence": { "prob": 0.25, "classes": { "physical_violence": 0.25 } },
        "self-harm": { "prob": 0.125, "type": { "real": 0.01 } },
        "offensive": {
            "nazi": 0.25, "asian_swastika": 0.9, "confederate": 0.01, "supremacist": 0.5, "terrorist": 0.01,
            "middle_finger": 0.99,
        },
        "media": { "id": "med_1", "uri": "image.jpeg" },
    })
}

fn read_all(answer: &Value) -> Result<Scores, ProviderError> {
    let body = serde_json::to_vec(answer).unwrap();
    read_image(&body, Sightengine::IMAGE)
}

#[test]
fn classes_that_exclude_one_another_are_added_up_to_1_and_of_others_the_highest_counts() {
    let scores = read_all(&result()).unwrap();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 1.0),
            (Category::Violence, 0.75),
            (Category::Hate, 0.5),
            (Category::SelfHarm, 0.125),
        ]
    );
    let mut calm = result();
    calm["nudity"]["sexual_activity"] = json!(0.125);
    calm["nudity"]["sexual_display"] = json!(0.125);
    let scores = read_all(&calm).unwrap();
    assert_eq!(scores.get(Category::Adult), Some(0.5));
}

#[test]
fn sports_skulls_and_waste_are_no_violence() {
    let mut judo = result();
    judo["violence"] = json!({
        "prob": 0.99, "classes": { "physical_violence": 0.02, "firearm_threat": 0.01, "combat_sport": 0.99 },
    });
    judo["gore"] = json!({
        "prob": 0.98, "classes": { "very_bloody": 0.01, "skull": 0.98, "body_waste": 0.9, "corpse": 0.125 },
        "type": { "real": 0.9 },
    });
    let scores = read_all(&judo).unwrap();
    assert_eq!(scores.get(Category::Violence), Some(0.125));
    judo["gore"]["classes"]["new"] = json!(0.5);
    let scores = read_all(&judo).unwrap();
    assert_eq!(
        scores.get(Category::Violence),
        Some(0.5),
        "what nobody knows yet counts"
    );
}

#[test]
fn only_the_models_that_are_needed_are_asked_for() {
    let asked = [Category::Violence, Category::SelfHarm];
    assert_eq!(models(&asked), "violence,gore-2.0,self-harm");
    let mut without = result();
    without.as_object_mut().unwrap().remove("nudity");
    let body = serde_json::to_vec(&without).unwrap();
    assert_eq!(read_image(&body, &asked).unwrap().iter().count(), 2);
}

#[test]
fn an_error_says_what_it_is_with_whatever_status() {
    let failure = |kind: &str| json!({ "status": "failure", "error": { "type": kind, "code": 1, "message": "m" } });
    for denied in ["credentials_error", "plan_error", "argument_error"] {
        assert!(matches!(
            read_all(&failure(denied)),
            Err(ProviderError::Denied(_))
        ));
    }
    let read = |kind| read_all(&failure(kind));
    assert!(matches!(
        read("usage_limit"),
        Err(ProviderError::Limited { .. })
    ));
    assert!(matches!(read("api_error"), Err(ProviderError::Failed(_))));
    assert!(matches!(
        read("media_error"),
        Err(ProviderError::Refused(_))
    ));
    let explain = |body: &[u8]| explain(&HeaderMap::new(), body);
    let explained = |kind| explain(&serde_json::to_vec(&failure(kind)).unwrap());
    assert_eq!(explained("usage_limit"), Some(Meaning::Limited));
    assert_eq!(explained("media_error"), None);
    assert_eq!(explain(b"<html>"), None);
}

#[test]
fn everything_else_is_malformed() {
    let mut half = result();
    half.as_object_mut().unwrap().remove("gore");
    let mut beyond = result();
    beyond["self-harm"]["prob"] = json!(1.5);
    let mut odd = result();
    odd["offensive"] = json!({ "prob": 0.1 });
    let mut unsaid = result();
    unsaid["status"] = json!("queued");
    for answer in [
        half,
        beyond,
        odd,
        unsaid,
        json!({}),
        json!({ "status": "success" }),
    ] {
        assert!(read_all(&answer).is_err(), "{answer}");
    }
}

#[test]
fn the_classes_of_a_text_are_mapped() {
    let mut answer = json!({
        "status": "success",
        "moderation_classes": {
            "available": ["sexual", "discriminatory", "insulting", "violent", "toxic", "self-harm"],
            "sexual": 0.5, "discriminatory": 0.25, "insulting": 0.125, "violent": 0.0, "toxic": 0.75, "self-harm": 0.0625,
        },
    });
    let read_all =
        |answer: &Value| read_text(&serde_json::to_vec(answer).unwrap(), Sightengine::TEXT);
    assert_eq!(
        read_all(&answer).unwrap().iter().collect::<Vec<_>>(),
        [
            (Category::Adult, 0.5),
            (Category::Violence, 0.0),
            (Category::Hate, 0.25),
            (Category::SelfHarm, 0.0625),
            (Category::Harassment, 0.75),
        ]
    );
    answer["moderation_classes"]
        .as_object_mut()
        .unwrap()
        .remove("toxic");
    assert!(read_all(&answer).is_err());
    assert!(read_all(&failure_of("usage_limit")).is_err());
    assert!(read_all(&json!({ "status": "success" })).is_err());
}

fn failure_of(kind: &str) -> Value {
    json!({ "status": "failure", "error": { "type": kind, "code": 1, "message": "m" } })
}
