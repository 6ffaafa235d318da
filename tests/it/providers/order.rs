//! The order of providers that a site prefers, what each is asked, and which answers are kept.

use std::{process::Stdio, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, SOON, Wire, eventually};

const HOUR: Duration = Duration::from_hours(1);

#[sqlx::test(migrations = false)]
async fn what_one_cannot_score_the_next_one_is_asked_for_and_nothing_else(pool: PgPool) {
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Well).await;
    let judge = FakeProvider::start(Wire::Policy, Mode::Well).await;
    let categories = "categories = [\"violence\", \"harassment\"]";
    let entries = [guard.entry("guard", ""), judge.entry("judge", categories)];
    let wanted = ["violence", "harassment", "spam"];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &wanted).await;

    let own = json!({ "policy": "The site's policy." });
    for (name, settings, policy) in [
        ("usual", json!({}), Panel::POLICY),
        ("own", own, "The site's policy."),
    ] {
        let key = panel.site(name, settings).await;
        let media = panel.submit(&key, "a quiet afternoon").await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
        let scores = verdict["moderationResult"]["ai_analysis"]
            .as_object()
            .unwrap();
        assert_eq!(scores["harassment"], 0.01);
        assert!(scores.contains_key("violence") && !scores.contains_key("spam"));
        let asked = judge.last();
        let schema = &asked["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["required"], json!(["harassment"]));
        let told = asked["messages"][0]["content"].as_str().unwrap();
        assert!(told.starts_with(policy), "{told}");
        let (_, item) = panel
            .manage(Method::GET, &format!("/media/{media}"), &Value::Null)
            .await;
        assert_eq!(item["verdicts"][0]["trace"]["unscored"], json!(["spam"]));
    }

    // In the other order, the first one scores all categories that either of them can score.
    let before = guard.asked();
    let key = panel
        .site("round", json!({ "providers": ["judge", "guard"] }))
        .await;
    let media = panel.submit(&key, FakeProvider::VIOLENT).await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!(guard.asked(), before);
}

#[sqlx::test(migrations = false)]
async fn what_was_found_is_kept_while_another_is_paused_and_not_asked_for_again(pool: PgPool) {
    let first = FakeProvider::start(Wire::Http, Mode::Well).await;
    let second = FakeProvider::openai(Mode::Limited("3")).await;
    let entries = [first.entry("first", ""), second.entry("second", "")];
    let wanted = ["violence", "harassment"];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &wanted).await;
    let key = panel.site("site", json!({})).await;
    let media = panel.submit(&key, FakeProvider::VIOLENT).await;
    eventually("a part is kept", SOON, async || {
        let parts: i64 = sqlx::query_scalar("select count(*) from analysis_parts")
            .fetch_one(&pool)
            .await
            .unwrap();
        (parts == 1).then_some(())
    })
    .await;
    assert_eq!(panel.status(&key, &media).await["status"], "pending");
    second.answer(Mode::Well);

    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!((first.asked(), second.answered()), (1, 1));
    let scores = &verdict["moderationResult"]["ai_analysis"];
    assert_eq!(
        (&scores["violence"], &scores["harassment"]),
        (&json!(0.97), &json!(0.01))
    );
    let analysis = panel.analysis(&media).await;
    let said = analysis["providers"].as_array().unwrap();
    let names: Vec<&Value> = said.iter().map(|said| &said["provider"]).collect();
    assert_eq!(names, ["first", "second"]);
    assert!(said.iter().all(|said| said["raw"].is_string()), "{said:?}");
    let parts: i64 = sqlx::query_scalar("select count(*) from analysis_parts")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(parts, 0);
}

#[sqlx::test(migrations = false)]
async fn a_provider_that_is_configured_no_more_checks_nothing_and_the_next_one_does(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("gone", ""), provider.entry("there", "")];
    let mut panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let alone = panel.site("alone", json!({ "providers": ["gone"] })).await;
    let both = json!({ "providers": ["gone", "there"] });
    let helped = panel.site("helped", both).await;
    panel.workers.clear();
    panel.configure(&entries[1..]);
    panel.workers.push(panel.worker(HOUR).await);

    let media = panel.submit(&alone, "a quiet afternoon").await;
    let verdict = panel.verdict(&alone, &media, SOON).await;
    assert_eq!(verdict["status"], "pending_review", "{verdict}");
    let reason = verdict["moderationResult"]["reason"].as_str().unwrap();
    assert!(reason.contains("`gone`"), "{reason}");

    let media = panel.submit(&helped, "a quiet afternoon").await;
    let verdict = panel.verdict(&helped, &media, SOON).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
    let said = &panel.analysis(&media).await["providers"];
    assert_eq!(
        (&said[0]["provider"], &said[0]["failure"]),
        (&json!("gone"), &json!("unknown"))
    );
}

#[sqlx::test(migrations = false)]
async fn a_mistake_in_the_file_of_providers_is_told_in_one_line(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let check = || {
        let mut command = panel.gatehouse();
        let command = command
            .arg("check")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.output().unwrap()
    };
    let output = check();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("providers: openai (openai, text and images)"),
        "{told}"
    );

    panel.configure(&[provider.entry("openai", "timeout = 3")]);
    let output = check();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("unknown field `timeout`"), "{told}");
    assert_eq!(told.trim().lines().count(), 1, "{told}");
}
