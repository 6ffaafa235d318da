//! When an answer is used again, and when a provider is asked again.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::time::sleep;

use super::{CALM, HOUR, cached, moderate, retention::count, site};
use crate::support::{FakeProvider, Mode, Panel, Wire};

async fn change(panel: &Panel, name: &str, settings: Value) {
    let path = site(panel, name).await;
    let (status, answer) = panel.manage(Method::PATCH, &path, &settings).await;
    assert_eq!(status, 200, "{answer}");
}

#[sqlx::test(migrations = false)]
async fn case_72_an_equal_text_is_sent_once_and_its_trace_names_the_item_of_the_answer(
    pool: PgPool,
) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let off = panel.site("off", json!({})).await;
    for _ in 0..2 {
        moderate(&panel, &off, CALM).await;
    }
    assert_eq!(provider.asked(), 2, "the site does not want a cache");

    let on = panel.site("on", cached()).await;
    for (body, status) in [(CALM, "approved"), (FakeProvider::VIOLENT, "rejected")] {
        let before = provider.asked();
        let (first, decided) = moderate(&panel, &on, body).await;
        assert_eq!(decided, status);
        let (second, decided) = moderate(&panel, &on, body).await;
        assert_eq!(decided, status);
        assert_eq!(
            provider.asked(),
            before + 1,
            "the second answer is the first one"
        );
        let (asked, found) = (panel.analysis(&first).await, panel.analysis(&second).await);
        assert_eq!(asked["scores"], found["scores"]);
        let (asked, found) = (&asked["providers"][0], &found["providers"][0]);
        assert_eq!(asked["cached_from"], Value::Null);
        assert_eq!(found["cached_from"], json!(first));
        assert_eq!(found["scores"], asked["scores"]);
        assert!(asked["raw"].is_string() && found["raw"].is_null());
    }

    // An answer for one site is not used for another site.
    let before = provider.asked();
    let other = panel.site("other", cached()).await;
    moderate(&panel, &other, CALM).await;
    assert_eq!(provider.asked(), before + 1);
    moderate(&panel, &off, CALM).await;
    assert_eq!(provider.asked(), before + 2);

    let looks = async |outcome| {
        let series =
            format!("gatehouse_provider_cache_total{{provider=\"openai\",outcome=\"{outcome}\"}}");
        Panel::metric(&panel.workers[0], &series).await
    };
    assert_eq!(looks("hit").await, Some(2.0));
    assert_eq!(looks("miss").await, Some(3.0));
    assert_eq!(looks("failed").await, Some(0.0));
}

#[sqlx::test(migrations = false)]
async fn case_72_a_changed_policy_or_model_asks_again(pool: PgPool) {
    let provider = FakeProvider::start(Wire::Policy, Mode::Well).await;
    let entry = |model: &str| {
        let entry = provider.entry("judge", "");
        [entry.replace("model = \"judge\"", &format!("model = {model:?}"))]
    };
    let mut panel = Panel::start(&pool, 1, &entry("judge"), HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    let asks = async |panel: &Panel| {
        let before = provider.asked();
        moderate(panel, &key, CALM).await;
        provider.asked() - before
    };
    assert_eq!((asks(&panel).await, asks(&panel).await), (1, 0));
    change(&panel, "site", json!({ "policy": "No spoilers." })).await;
    assert_eq!((asks(&panel).await, asks(&panel).await), (1, 0));
    change(&panel, "site", json!({ "policy": null })).await;
    assert_eq!(asks(&panel).await, 0, "as at first");

    panel.workers.clear();
    panel.configure(&entry("other"));
    let worker = panel.worker(HOUR).await;
    panel.workers.push(worker);
    assert_eq!((asks(&panel).await, asks(&panel).await), (1, 0));
}

#[sqlx::test(migrations = false)]
async fn an_answer_holds_for_as_long_as_the_site_wants(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    for _ in 0..2 {
        moderate(&panel, &key, CALM).await;
    }
    assert_eq!(provider.asked(), 1);
    change(&panel, "site", json!({ "answer_cache_seconds": 1 })).await;
    sleep(Duration::from_millis(1_500)).await;
    moderate(&panel, &key, CALM).await;
    assert_eq!(provider.asked(), 2, "the answer was too old");

    assert!(count(&pool).await > 0);
    change(&panel, "site", json!({ "answer_cache_seconds": null })).await;
    assert_eq!(count(&pool).await, 0);
    for _ in 0..2 {
        moderate(&panel, &key, CALM).await;
    }
    assert_eq!(provider.asked(), 4);
    assert_eq!(count(&pool).await, 0);
}
