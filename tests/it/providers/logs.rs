//! The logs about a provider's failure: its error code and the chain of causes, but no content that
//! was sent.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;

use super::HOUR;
use crate::support::{FakeProvider, Mode, Panel, eventually, nobody};

const MINUTES: Duration = Duration::from_mins(2);
const TEXT: &str = "flurbicide is what this text is about";

#[sqlx::test(migrations = false)]
async fn case_71_logs_have_codes_and_causes_and_tenants_get_neither(pool: PgPool) {
    let coded = FakeProvider::openai(Mode::Status(400)).await;
    let quoting = FakeProvider::openai(Mode::Quoting(400)).await;
    let denied = FakeProvider::openai(Mode::Status(401)).await;
    let (there, gone) = (FakeProvider::openai(Mode::Well).await, nobody());
    let [at, nowhere] = [there.address(), gone.local_addr().unwrap()].map(|at| at.to_string());
    let entries = [
        coded.entry("coded", ""),
        quoting.entry("quoting", ""),
        denied.entry("denied", ""),
        there.entry("gone", "").replace(&at, &nowhere),
    ];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let line = |words: &[&str]| {
        let logged = panel.logged();
        let mut lines = logged.lines();
        lines
            .find(|line| words.iter().all(|word| line.contains(word)))
            .map(str::to_owned)
    };
    for name in ["coded", "quoting"] {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit(&key, TEXT).await;
        let verdict = panel.verdict(&key, &media, MINUTES).await;
        assert_eq!(verdict["status"], "pending_review", "{verdict}");
        let reason = verdict["moderationResult"]["reason"].as_str().unwrap();
        assert!(
            reason.contains(name) && !reason.contains("on_purpose"),
            "{reason}"
        );
        let item = panel.analysis(&media).await.to_string();
        assert!(!item.contains("on_purpose"), "{item}");
    }
    // These providers fail until the end, and their items wait for an hour.
    panel.leaves_jobs();
    for name in ["denied", "gone"] {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        panel.submit(&key, TEXT).await;
    }
    for words in [
        [
            "a provider failed permanently for an item",
            "coded",
            "on_purpose",
        ],
        [
            "a provider rejects all our requests",
            "denied",
            "on_purpose",
        ],
        ["\"a provider failed\"", "gone", "Connection refused"],
    ] {
        eventually("the log contains it", MINUTES, async || line(&words)).await;
    }
    let logged = panel.logged();
    for secret in [FakeProvider::KEY, "flurbicide", "what this text is about"] {
        assert!(!logged.contains(secret), "{secret}: {logged}");
    }
    for provider in [&coded, &quoting, &denied] {
        let [_, _, _, url] = provider.options();
        assert!(!logged.contains(&url), "{url}: {logged}");
    }
    // The labels of the metrics are unchanged.
    let page = reqwest::get(&panel.workers[0].metrics_url).await.unwrap();
    let page = page.text().await.unwrap();
    assert!(!page.contains("on_purpose"), "{page}");
}

#[sqlx::test(migrations = false)]
async fn an_outage_of_a_provider_is_a_line_and_not_one_for_each_item(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Status(500)).await;
    let entries = [provider.entry("failing", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    // The provider fails until the end, and the items wait for an hour.
    panel.leaves_jobs();
    let key = panel
        .site("site", json!({ "providers": ["failing"] }))
        .await;
    for n in 0..30 {
        panel.submit(&key, &format!("{TEXT} {n}")).await;
    }
    let of = |message: &str, level: &str| {
        let (message, level) = (format!("\"{message}\""), format!("\"level\":\"{level}\""));
        let logged = panel.logged();
        let lines = logged.lines();
        let lines = lines.filter(|line| line.contains(&message) && line.contains(&level));
        lines.count()
    };
    eventually("several failures", MINUTES, async || {
        (of("a provider failed", "DEBUG") > 2).then_some(())
    })
    .await;
    assert_eq!(of("a provider failed", "WARN"), 1);
    let retried = of("a job failed and will be tried again", "WARN");
    assert!(retried <= 1, "{retried}");
}
