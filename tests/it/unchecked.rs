//! An item of which nothing, or only a part, was checked, on every face that tells an outcome: each says so, and nobody who reads
//! carelessly takes it for clean.

mod compat;
mod other_outcomes;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Up, http};

/// One of [`threats`], in which no lexicon finds anything.
const UNREAD: &str = "Jutro wieczorem przyjdę i cię zabiję";
const FINE: &str = "a fine day for a walk by the river";
/// A keyword of the demo's rules, among words that nobody reads.
const FORBIDDEN: &str = "blockedword: przyjdę jutro wieczorem i porozmawiamy";

/// The same threat in languages that the built-in analysis does not read, by their names.
fn threats() -> BTreeMap<String, String> {
    let threats = serde_json::from_str(include_str!("../compat/threats.json"));
    threats.expect("it maps texts to texts")
}

/// A rule group of the demo's team.
async fn group(up: &Up, name: &str, rule: Value) -> String {
    let group = json!({ "name": name, "rules": [rule] });
    let (status, made) = up.manage("/rule-groups", &group).await;
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

/// A group that looks for a word, and wants no scores.
async fn keyword_group(up: &Up) -> String {
    let rule = json!({
        "name": "Word", "type": "keyword", "keywords": ["blockedword"], "effect": "reject",
    });
    group(up, "Keywords", rule).await
}

/// Changes the demo's site.
async fn set(up: &Up, change: Value) {
    let site = format!("/sites/{}", up.demo().site_id);
    let (status, changed) = up.patch(&site, &change).await;
    assert_eq!(status, 200, "{changed}");
}

/// Posts to an endpoint for clients of another service. Returns the status, the headers and the body.
async fn ask(up: &Up, path: &str, body: &Value) -> (u16, reqwest::header::HeaderMap, Value) {
    let request = http()
        .post(format!("{}/compat/{path}", up.origin()))
        .bearer_auth(&up.demo().site_key)
        .header("x-goog-api-key", &up.demo().site_key)
        .json(body);
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    (status, headers, answer.json().await.unwrap())
}

/// The results of OpenAI's endpoint for these texts.
async fn moderated(up: &Up, texts: &[&str]) -> Vec<Value> {
    let (status, _, answer) = ask(up, "openai/v1/moderations", &json!({ "input": texts })).await;
    assert_eq!(status, 200, "{answer}");
    answer["results"].as_array().unwrap().clone()
}
