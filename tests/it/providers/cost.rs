//! Metrics report exactly what providers cost, from the start.

use std::time::Duration;

use chrono::Utc;
use serde_json::json;
use sqlx::PgPool;
use store::provider;

use crate::support::{FakeProvider, Mode, Panel, Wire, eventually};

const HOUR: Duration = Duration::from_hours(1);
const MINUTES: Duration = Duration::from_mins(3);

async fn metric(
    panel: &Panel,
    name: &str,
    provider: &str,
    label: &str,
    value: &str,
) -> Option<f64> {
    let series =
        format!("gatehouse_provider_{name}_total{{provider={provider:?},{label}={value:?}}}");
    Panel::metric(&panel.workers[0], &series).await
}

fn number(count: usize) -> Option<f64> {
    u32::try_from(count).ok().map(f64::from)
}

#[sqlx::test(migrations = false)]
async fn requests_tokens_and_units_are_counted_by_provider(pool: PgPool) {
    let day = Utc::now().date_naive();
    let judge = FakeProvider::start(Wire::Policy, Mode::Well).await;
    let own = FakeProvider::start(Wire::Http, Mode::Well).await;
    let entries = [
        judge.entry("judge", "modalities = [\"text\"]"),
        own.entry("own", ""),
    ];
    let mut panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    for (name, label, values) in [
        ("requests", "modality", ["text", "image"].as_slice()),
        ("pieces", "what", &["asked", "kept", "repeated"]),
        ("tokens", "kind", &["input", "output"]),
        ("cache", "outcome", &["hit", "miss", "failed"]),
    ] {
        for value in values {
            // A worker is ready a moment before its parts have begun, each with its metrics.
            let shown = eventually("the counter is shown", MINUTES, async || {
                metric(&panel, name, "judge", label, value).await
            })
            .await;
            assert_eq!(Some(shown), Some(0.0), "{name} {value}");
        }
    }
    let key = panel.site("site", json!({})).await;
    let picture = FakeProvider::picture(200, 200, image::ImageFormat::Png, false);
    for _ in 0..2 {
        let media = panel
            .submit_image(&key, &picture, Some("a quiet afternoon"))
            .await;
        let verdict = panel.verdict(&key, &media, MINUTES).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    let count =
        async |name, provider, label, value| metric(&panel, name, provider, label, value).await;
    assert_eq!(
        count("requests", "judge", "modality", "text").await,
        Some(2.0)
    );
    assert_eq!(
        count("requests", "judge", "modality", "image").await,
        Some(0.0)
    );
    assert_eq!(
        count("requests", "own", "modality", "text").await,
        Some(0.0)
    );
    assert_eq!(
        count("requests", "own", "modality", "image").await,
        Some(2.0)
    );
    assert_eq!(count("tokens", "judge", "kind", "input").await, Some(2.0));
    assert_eq!(count("tokens", "judge", "kind", "output").await, Some(2.0));
    assert_eq!(count("tokens", "own", "kind", "input").await, Some(0.0));
    assert_eq!(count("pieces", "judge", "what", "asked").await, Some(2.0));
    assert_eq!(
        count("pieces", "judge", "what", "repeated").await,
        Some(0.0)
    );

    // A useless answer costs money, too.
    judge.answer(Mode::Foreign);
    let media = panel.submit(&key, "a quiet evening").await;
    eventually("a first attempt", MINUTES, async || {
        (judge.asked() >= 3).then_some(())
    })
    .await;
    judge.answer(Mode::Well);
    panel.verdict(&key, &media, MINUTES).await;
    let asked = number(judge.asked());
    assert_eq!(count("requests", "judge", "modality", "text").await, asked);
    assert_eq!(count("tokens", "judge", "kind", "input").await, asked);

    // A worker that stops has stored the same numbers.
    panel.workers[0].stop().await;
    let mut conn = pool.acquire().await.unwrap();
    let costs = provider::costs(&mut conn).await.unwrap();
    let is_one_day = Utc::now().date_naive() == day;
    let costs: Vec<_> = costs
        .iter()
        .map(|cost| {
            // A part of it was yesterday if midnight has passed.
            let today = if is_one_day { cost.today } else { cost.month };
            (&*cost.provider, &*cost.what, today, cost.month)
        })
        .collect();
    let asked = i64::try_from(judge.asked()).unwrap();
    assert_eq!(
        costs,
        [
            ("judge", "input_tokens", asked, asked),
            ("judge", "output_tokens", asked, asked),
            ("judge", "text_requests", asked, asked),
            ("own", "image_requests", 2, 2),
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn pieces_that_are_repeated_or_kept_are_told_apart(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Fails(5)).await;
    let entries = [provider.entry("openai", "piece_bytes = 2000")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let long = "Calm words stand in a row. ".repeat(1_100);
    let media = panel.submit(&key, &long).await;
    eventually("some pieces are answered", MINUTES, async || {
        (provider.answered() == 5 && provider.asked() > 5).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, MINUTES).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
    let count = async |what| metric(&panel, "pieces", "openai", "what", what).await;
    assert_eq!(count("asked").await, number(provider.asked()));
    let in_vain = provider.asked() - provider.answered();
    assert!(in_vain > 0);
    assert_eq!(count("repeated").await, number(in_vain));
    assert!(count("kept").await >= Some(5.0));
    let requests = metric(&panel, "requests", "openai", "modality", "text").await;
    assert_eq!(requests, number(provider.asked()));
}
