//! A provider that fails: no item is approved unchecked, rules that could run still decide, and no
//! item is lost.

mod animations;
mod answers;
mod cache;
mod cost;
mod faults;
mod images;
mod language;
mod limits;
mod live;
mod logs;
mod missing_categories;
mod order;
mod proxy;
mod shared_state;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{DataDir, FakeProvider, Mode, SOON, Up, eventually};

const HOUR: Duration = Duration::from_hours(1);
const MINUTES: Duration = Duration::from_mins(2);

async fn start(provider: &FakeProvider, data: &DataDir) -> Up {
    let options = provider.options();
    Up::start(data, &options.each_ref().map(String::as_str)).await
}

async fn verdict(up: &Up, text: &str) -> Value {
    let media = up.submit(json!({ "body": text })).await;
    up.verdict(&media).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_s_scores_decide_and_absent_categories_stay_absent() {
    let provider = FakeProvider::openai(Mode::Well).await;
    let data = DataDir::new();
    let up = start(&provider, &data).await;

    let calm = verdict(&up, "a quiet afternoon").await;
    assert_eq!(
        (&calm["status"], &calm["moderation_type"]),
        (&json!("approved"), &json!("ai"))
    );
    let scores = calm["moderationResult"]["ai_analysis"].as_object().unwrap();
    assert_eq!(scores["violence"], 0.01);
    assert!(!scores.contains_key("spam"), "{scores:?}");

    provider.answer(Mode::Unsure);
    let unsure = verdict(&up, "a quiet evening").await;
    let scores = &unsure["moderationResult"]["ai_analysis"];
    assert!(scores.get("illicit").is_none(), "{unsure}");
    assert_eq!(scores["violence"], 0.01);
    provider.answer(Mode::Well);

    // The violent word is at the end of a text that the provider gets in several pieces.
    let long = format!("{} {}", "calm words ".repeat(3_000), FakeProvider::VIOLENT);
    let violent = verdict(&up, &long).await;
    assert_eq!(violent["status"], "rejected", "{violent}");
    assert_eq!(
        violent["moderationResult"]["rule_violations"][0]["confidence"],
        0.97
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_refuses_goes_to_review_at_once_and_rules_still_reject() {
    let provider = FakeProvider::openai(Mode::Status(400)).await;
    let data = DataDir::new();
    let up = start(&provider, &data).await;

    let unchecked = verdict(&up, "a quiet afternoon").await;
    assert_eq!(unchecked["status"], "pending_review", "{unchecked}");
    let reason = unchecked["moderationResult"]["reason"].as_str().unwrap();
    assert!(reason.contains("openai"), "{reason}");
    assert_eq!(unchecked["moderationResult"].get("ai_analysis"), None);
    assert_eq!(provider.asked(), 1);

    let rejected = verdict(&up, "a blockedword").await;
    assert_eq!(rejected["status"], "rejected", "{rejected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_failures_are_tried_again() {
    let provider = FakeProvider::openai(Mode::Well).await;
    let data = DataDir::new();
    let up = start(&provider, &data).await;
    for failure in [
        Mode::Status(500),
        Mode::Status(429),
        Mode::Half,
        Mode::Malformed,
        Mode::Reset,
    ] {
        provider.answer(failure);
        let before = provider.asked();
        let media = up.submit(json!({ "body": "a quiet afternoon" })).await;
        eventually("a first attempt", SOON, async || {
            (provider.asked() > before).then_some(())
        })
        .await;
        assert_eq!(up.status(&media).await["status"], "pending", "{failure:?}");
        provider.answer(Mode::Well);
        let status = up.verdict(&media).await;
        assert_eq!(status["status"], "approved", "{failure:?}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_whose_attempts_are_spent_ends_in_review() {
    let provider = FakeProvider::openai(Mode::Status(500)).await;
    let data = DataDir::new();
    let up = start(&provider, &data).await;
    let media = up.submit(json!({ "body": "a quiet afternoon" })).await;
    // Five attempts, with waits of 2, 4, 8 and 16 s between them.
    eventually("five attempts", MINUTES, async || {
        (provider.asked() == 5).then_some(())
    })
    .await;
    let status = up.verdict(&media).await;
    assert_eq!(status["status"], "pending_review", "{status}");
    assert_eq!(provider.asked(), 5);
}
