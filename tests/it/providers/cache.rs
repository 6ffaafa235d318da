//! Equal texts of a site are shown to a provider once, where the site wants that, and nothing is taken for an answer that is none.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::time::sleep;

use crate::support::{FakeProvider, Mode, Panel, Wire, Worker, text};

const HOUR: Duration = Duration::from_hours(1);
const SOON: Duration = Duration::from_secs(30);
const MINUTES: Duration = Duration::from_mins(3);

const CALM: &str = "a quiet afternoon";

fn cached() -> Value {
    json!({ "answer_cache_seconds": 3_600 })
}

/// Submits a text and waits for its verdict; the item's id and its status.
async fn moderate(panel: &Panel, key: &str, body: &str) -> (String, Value) {
    let media = panel.submit(key, body).await;
    let verdict = panel.verdict(key, &media, MINUTES).await;
    (media, verdict["status"].clone())
}

/// The path of a site, by its name.
async fn site(panel: &Panel, name: &str) -> String {
    let (_, sites) = panel
        .manage(Method::GET, "/sites?limit=100", &Value::Null)
        .await;
    let sites = sites["data"].as_array().unwrap();
    let site = sites.iter().find(|site| site["name"] == name).unwrap();
    format!("/sites/{}", text(site, "id"))
}

async fn change(panel: &Panel, name: &str, settings: Value) {
    let path = site(panel, name).await;
    let (status, answer) = panel.manage(Method::PATCH, &path, &settings).await;
    assert_eq!(status, 200, "{answer}");
}

async fn count(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from cached_answers")
        .fetch_one(pool)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn an_equal_text_is_shown_once_and_its_trace_tells_whose_answer_it_has(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let off = panel.site("off", json!({})).await;
    for _ in 0..2 {
        moderate(&panel, &off, CALM).await;
    }
    assert_eq!(provider.asked(), 2, "nobody asked for a cache");

    let on = panel.site("on", cached()).await;
    for (body, status) in [(CALM, "approved"), (FakeProvider::VIOLENT, "rejected")] {
        let before = provider.asked();
        let (first, decided) = moderate(&panel, &on, body).await;
        assert_eq!(decided, status);
        let (second, decided) = moderate(&panel, &on, body).await;
        assert_eq!(decided, status);
        assert_eq!(provider.asked(), before + 1, "the second one is the first");
        let (asked, found) = (panel.analysis(&first).await, panel.analysis(&second).await);
        assert_eq!(asked["scores"], found["scores"]);
        let (asked, found) = (&asked["providers"][0], &found["providers"][0]);
        assert_eq!(asked["cached_from"], Value::Null);
        assert_eq!(found["cached_from"], json!(first));
        assert_eq!(found["scores"], asked["scores"]);
        assert!(asked["raw"].is_string() && found["raw"].is_null());
    }

    // What one site asked says nothing to another one.
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
async fn a_changed_policy_model_or_question_asks_again(pool: PgPool) {
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

#[sqlx::test(migrations = false)]
async fn what_is_no_whole_answer_is_not_kept(pool: PgPool) {
    let provider = FakeProvider::start(Wire::Http, Mode::Status(400)).await;
    let entries = [provider.entry("own", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    let mut asked = 0;
    // It refuses the text, leaves the category out, and fails half way.
    for mode in [Mode::Status(400), Mode::Unsure] {
        provider.answer(mode);
        for _ in 0..2 {
            let (_, status) = moderate(&panel, &key, CALM).await;
            assert_eq!(status, "pending_review", "{mode:?}");
            asked += 1;
            assert_eq!(provider.asked(), asked, "{mode:?}");
        }
        assert_eq!(count(&pool).await, 0, "{mode:?}");
    }
    provider.answer(Mode::Half);
    let media = panel.submit(&key, CALM).await;
    crate::support::eventually("a failed attempt", SOON, async || {
        (provider.asked() > asked).then_some(())
    })
    .await;
    assert_eq!(count(&pool).await, 0);
    provider.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, MINUTES).await;
    assert_eq!(verdict["status"], "approved");
    assert_eq!(count(&pool).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_team_has_so_many_answers_and_the_oldest_make_room(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let mut command = panel.gatehouse();
    command.env("GATEHOUSE_ANSWER_CACHE_ENTRIES", "3");
    let _worker = Worker::launch(command).await;
    let key = panel.site("site", cached()).await;
    for number in 0..7 {
        moderate(&panel, &key, &format!("{CALM} {number}")).await;
        assert_eq!(count(&pool).await, (number + 1).min(3));
    }
    for (number, asks) in [(6, 0), (5, 0), (4, 0), (3, 1)] {
        let before = provider.asked();
        moderate(&panel, &key, &format!("{CALM} {number}")).await;
        assert_eq!(provider.asked() - before, asks, "{number}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_answer_goes_with_its_item_and_with_its_text(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    for (asked, erase) in [
        (1, "update media set body = null where id = $1::uuid"),
        (2, "delete from media where id = $1::uuid"),
    ] {
        let (media, _) = moderate(&panel, &key, CALM).await;
        moderate(&panel, &key, CALM).await;
        assert_eq!(provider.asked(), asked);
        assert_eq!(count(&pool).await, 1);
        sqlx::query(erase)
            .bind(&media)
            .execute(&pool)
            .await
            .unwrap();
        assert_eq!(count(&pool).await, 0, "{erase}");
    }
    moderate(&panel, &key, CALM).await;
    assert_eq!(provider.asked(), 3);
}

#[sqlx::test(migrations = false)]
async fn without_the_cache_every_item_has_its_verdict(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    sqlx::query("alter table cached_answers rename to elsewhere")
        .execute(&pool)
        .await
        .unwrap();
    for _ in 0..3 {
        let (_, status) = moderate(&panel, &key, CALM).await;
        assert_eq!(status, "approved");
    }
    assert_eq!(provider.asked(), 3);
    let series = "gatehouse_provider_cache_total{provider=\"openai\",outcome=\"failed\"}";
    assert_eq!(Panel::metric(&panel.workers[0], series).await, Some(3.0));
}
