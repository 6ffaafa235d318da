//! The endpoints for clients of OpenAI and of Perspective.

use serde_json::{Value, json};

use super::{FINE, FORBIDDEN, UNREAD, ask, group, keyword_group, moderated, set, threats};
use crate::support::{DataDir, Up, http};

/// What is said of a category.
fn category<'a>(result: &'a Value, name: &str) -> (&'a Value, &'a Value, &'a Value) {
    (
        &result["categories"][name],
        &result["category_scores"][name],
        &result["category_applied_input_types"][name],
    )
}

fn is_named_unchecked(result: &Value, name: &str) -> bool {
    let unchecked = result["gatehouse"]["unchecked"].as_array().unwrap();
    unchecked.iter().any(|named| named == name)
}

#[tokio::test]
async fn a_threat_that_nobody_could_read_is_flagged_and_says_why() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let threats = threats();
    let texts: Vec<&str> = threats.values().map(String::as_str).collect();
    let results = moderated(&up, &texts).await;
    assert_eq!(results.len(), 15);
    for (language, result) in threats.keys().zip(&results) {
        assert_eq!(result["flagged"], true, "{language}: {result}");
        assert_ne!(
            result["gatehouse"]["action"], "approve",
            "{language}: {result}"
        );
        assert!(
            is_named_unchecked(result, "hate"),
            "nobody has scored it, {language}: {result}"
        );
    }
    let result = &moderated(&up, &[UNREAD]).await[0];
    assert_eq!(
        (
            &result["gatehouse"]["status"],
            &result["gatehouse"]["action"]
        ),
        (&json!("pending_review"), &json!("review"))
    );
    let reason = result["gatehouse"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("Not checked: "), "{reason}");
    let unscored = (&json!(false), &json!(0.0), &json!([]));
    assert_eq!(category(result, "violence"), unscored, "{result}");
    assert!(is_named_unchecked(result, "violence"), "{result}");

    let result = &moderated(&up, &[FINE]).await[0];
    assert_eq!(result["flagged"], false, "{result}");
    assert_eq!(result["gatehouse"]["reason"], Value::Null, "{result}");
    assert_eq!(category(result, "violence").2, &json!(["text"]));
    assert!(!is_named_unchecked(result, "violence"), "{result}");
    assert!(
        is_named_unchecked(result, "violence/graphic"),
        "it has no category of ours: {result}"
    );
}

#[tokio::test]
async fn a_site_whose_rules_want_no_scores_flags_what_nobody_could_read_too() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let keywords = keyword_group(&up).await;
    let spam =
        json!({ "name": "Spam", "type": "ai_threshold", "category": "spam", "reject_at": 0.9 });
    let spam = group(&up, "Spam", spam).await;
    for group in [keywords, spam] {
        set(&up, json!({ "rule_group_ids": [group] })).await;
        let results = moderated(&up, &[UNREAD, FINE, "you stupid idiot, I hate you"]).await;
        assert_eq!(results[0]["flagged"], true, "{}", results[0]);
        assert_eq!(results[0]["gatehouse"]["status"], "pending_review");
        assert_eq!(results[1]["flagged"], false, "{}", results[1]);
        assert_eq!(
            results[2]["flagged"], true,
            "all categories are scored, whatever the rules want: {}",
            results[2]
        );
    }
}

#[tokio::test]
async fn a_site_that_approves_what_cannot_be_checked_is_believed_and_the_result_still_says_so() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    for (on_failure, status, flagged) in [
        ("approve", "approved", false),
        ("reject", "rejected", true),
        ("review", "pending_review", true),
    ] {
        set(&up, json!({ "on_failure": on_failure })).await;
        let result = &moderated(&up, &[UNREAD]).await[0];
        assert_eq!(result["flagged"], flagged, "{result}");
        assert_eq!(result["gatehouse"]["status"], status, "{result}");
        let reason = result["gatehouse"]["reason"].as_str().unwrap();
        assert!(reason.starts_with("Not checked: "), "{reason}");
        assert!(is_named_unchecked(result, "violence"), "{result}");
    }
}

#[tokio::test]
async fn a_site_can_want_an_error_for_what_was_not_checked() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    set(&up, json!({ "compat_unchecked": "error" })).await;
    for on_failure in ["review", "reject", "approve"] {
        set(&up, json!({ "on_failure": on_failure })).await;
        let input = json!({ "input": [FINE, UNREAD] });
        let (status, headers, answer) = ask(&up, "openai/v1/moderations", &input).await;
        assert_eq!(status, 503, "{on_failure}: {answer}");
        assert_eq!(answer["error"]["code"], "not_checked", "{answer}");
        assert_eq!(answer["error"]["type"], "server_error", "{answer}");
        assert_eq!(headers["x-should-retry"], "false", "the items are stored");
        assert!(!headers.contains_key("retry-after"));
    }
    // What was found is an answer, whatever else was not checked.
    let results = moderated(&up, &[FORBIDDEN, FINE]).await;
    assert_eq!(results[0]["flagged"], true, "{}", results[0]);
    assert_eq!(results[1]["flagged"], false, "{}", results[1]);
}

#[tokio::test]
async fn an_empty_text_has_a_result_of_its_own() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let results = moderated(&up, &["", FORBIDDEN, "", FINE]).await;
    let flagged: Vec<&Value> = results.iter().map(|result| &result["flagged"]).collect();
    assert_eq!(flagged, [false, true, false, false]);
    for empty in [&results[0], &results[2]] {
        assert_eq!(empty["gatehouse"]["media_id"], Value::Null, "{empty}");
        assert_eq!(empty["categories"].as_object().unwrap().len(), 13);
    }
    assert_eq!(moderated(&up, &[""]).await.len(), 1);
    let (status, _, answer) = ask(&up, "openai/v1/moderations", &json!({ "input": "" })).await;
    assert_eq!(
        (status, &answer["results"][0]["flagged"]),
        (200, &json!(false))
    );

    let request = http()
        .post(format!("{}/compat/openai/v1/moderations", up.origin()))
        .bearer_auth(format!("site_{}", "x".repeat(32)))
        .json(&json!({ "input": [""] }));
    assert_eq!(
        request.send().await.unwrap().status(),
        401,
        "the key counts"
    );
}

#[tokio::test]
async fn gateways_find_the_models_that_openai_lists_for_moderation() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let look = async |path: &str, key: &str| {
        let url = format!("{}/compat/openai/v1/models{path}", up.origin());
        let answer = http().get(url).bearer_auth(key).send().await.unwrap();
        (
            answer.status().as_u16(),
            answer.json::<Value>().await.unwrap(),
        )
    };
    let key = &up.demo().site_key;
    let (status, models) = look("", key).await;
    assert_eq!(
        (status, &models["object"]),
        (200, &json!("list")),
        "{models}"
    );
    let models = models["data"].as_array().unwrap();
    assert_eq!(models[0]["id"], "omni-moderation-latest");
    for model in models {
        let id = model["id"].as_str().unwrap();
        assert_eq!(look(&format!("/{id}"), key).await, (200, model.clone()));
    }
    let (status, none) = look("/gpt-5", key).await;
    assert_eq!(
        (status, &none["error"]["code"]),
        (404, &json!("model_not_found"))
    );
    let wrong = format!("site_{}", "x".repeat(32));
    assert_eq!(look("", &wrong).await.0, 401);
}

#[tokio::test]
async fn a_client_of_perspective_gets_perspectives_own_error() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let analyze = async |text: &str| {
        let request = json!({
            "comment": { "text": text }, "requestedAttributes": { "THREAT": {}, "TOXICITY": {} },
        });
        ask(&up, "perspective/v1alpha1/comments:analyze", &request).await
    };
    let (status, _, answer) = analyze(UNREAD).await;
    assert_eq!(status, 400, "{answer}");
    let detail = &answer["error"]["details"][0];
    assert_eq!(detail["errorType"], "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE");
    assert_eq!(
        detail["languageNotSupportedByAttributeError"],
        json!({ "detectedLanguages": ["und"], "attribute": "THREAT" })
    );
    let stored = &answer["error"]["details"][1]["metadata"];
    assert_eq!(stored["status"], "pending_review", "{answer}");
    let (status, _, answer) = analyze(FINE).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["attributeScores"]["THREAT"].is_object(), "{answer}");
}
