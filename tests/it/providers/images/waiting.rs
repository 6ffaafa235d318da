//! Images, or their texts, that wait for a provider's limit.

use serde_json::json;
use sqlx::PgPool;

use super::{CALM, HOUR, SOON, picture};
use crate::support::{FakeProvider, Mode, Panel, Wire, eventually};

#[sqlx::test(migrations = false)]
async fn a_limit_that_an_image_ran_into_holds_for_images_costs_no_attempt_and_lets_texts_pass(
    pool: PgPool,
) {
    let provider = FakeProvider::start(Wire::Azure, Mode::Limited("60")).await;
    let entries = [provider.entry("azure", "")];
    let panel = Panel::start(&pool, 2, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let first = panel.submit_image(&key, &picture(false), None).await;
    eventually("the limit is hit", SOON, async || {
        (provider.asked() == 1).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    for worker in &panel.workers {
        let paused = "gatehouse_provider_paused{provider=\"azure\",cause=\"limit\"}";
        eventually("each worker knows", SOON, async || {
            (Panel::metric(worker, paused).await == Some(1.0)).then_some(())
        })
        .await;
    }
    let second = panel.submit_image(&key, &picture(false), None).await;
    let rescheduled = "select count(*) from queue.jobs where queue = 'analysis' and run_at > now() and attempt = 0";
    eventually("both wait, and none was charged", SOON, async || {
        let waiting: i64 = sqlx::query_scalar(rescheduled)
            .fetch_one(&pool)
            .await
            .unwrap();
        (waiting == 2).then_some(())
    })
    .await;
    assert_eq!(provider.asked(), 1);
    // A text is much smaller.
    let text = panel.submit(&key, CALM).await;
    for media in [text, first, second] {
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    assert_eq!(provider.asked(), 4);
}

#[sqlx::test(migrations = false)]
async fn a_limit_that_only_the_body_tells_is_one(pool: PgPool) {
    let mut entries = Vec::new();
    let mut providers = Vec::new();
    for wire in [Wire::Vision, Wire::Rekognition, Wire::Sightengine] {
        let provider = FakeProvider::start(wire, Mode::Hidden).await;
        entries.push(provider.entry(wire.name(), ""));
        providers.push((wire.name(), provider));
    }
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    for (name, provider) in &providers {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit_image(&key, &picture(false), None).await;
        eventually("it is asked", SOON, async || {
            (provider.asked() > 0).then_some(())
        })
        .await;
        let limited =
            format!("gatehouse_provider_errors_total{{provider={name:?},reason=\"limited\"}}");
        eventually("the worker knows the limit", SOON, async || {
            (Panel::metric(&panel.workers[0], &limited).await >= Some(1.0)).then_some(())
        })
        .await;
        provider.answer(Mode::Well);
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], "approved", "{name}: {verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_was_found_of_an_image_is_kept_while_its_text_waits(pool: PgPool) {
    let vision = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Limited("8")).await;
    let entries = [vision.entry("vision", ""), guard.entry("guard", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let media = panel
        .submit_image(&key, &picture(false), Some(FakeProvider::VIOLENT))
        .await;
    let parts = async || -> (i64, i64) {
        let counts = "select (select count(*) from analysis_parts), (select count(*) from analysis_image_parts)";
        sqlx::query_as(counts).fetch_one(&pool).await.unwrap()
    };
    eventually("the image's part is kept", SOON, async || {
        (parts().await == (0, 1)).then_some(())
    })
    .await;
    assert_eq!(panel.status(&key, &media).await["status"], "pending");
    guard.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, SOON).await;
    // The image's score does not count for the text.
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!((vision.asked(), guard.answered()), (1, 1));
    assert_eq!(parts().await, (0, 0));
    let said = panel.analysis(&media).await;
    assert_eq!(said["providers"].as_array().unwrap().len(), 2, "{said}");
}
