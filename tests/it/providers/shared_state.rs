//! All workers share what one of them learns about a provider: a limit, and a breaker that opens,
//! is probed by one worker, and closes.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, SOON, eventually};

const HOUR: Duration = Duration::from_hours(1);
const MINUTES: Duration = Duration::from_mins(3);

/// The failures that open a breaker, and the calls that two workers with two places each may have
/// started by then.
const BURST: usize = 5 + 3;

async fn submit(panel: &Panel, key: &str, texts: usize) -> Vec<String> {
    let mut media = Vec::new();
    for _ in 0..texts {
        media.push(panel.submit(key, "a quiet afternoon").await);
    }
    media
}

async fn assert_approved(panel: &Panel, key: &str, media: &[String]) {
    for media in media {
        let verdict = panel.verdict(key, media, MINUTES).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_limit_that_one_worker_ran_into_pauses_all_and_costs_no_attempt(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Limited("60")).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 2, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;

    let mut media = submit(&panel, &key, 1).await;
    eventually("the limit is hit", SOON, async || {
        (provider.asked() == 1).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    // Workers that look from now on see it. What they saw before counts for one second at most.
    for worker in &panel.workers {
        let paused = "gatehouse_provider_paused{provider=\"openai\",cause=\"limit\"}";
        eventually("each worker knows", SOON, async || {
            (Panel::metric(worker, paused).await == Some(1.0)).then_some(())
        })
        .await;
    }
    assert_eq!(provider.asked(), 1);
    media.extend(submit(&panel, &key, 40).await);
    let rescheduled = "select count(*) from queue.jobs where queue = 'analysis' and run_at > now() and attempt = 0";
    eventually("all wait, and none was charged", SOON, async || {
        let waiting: i64 = sqlx::query_scalar(rescheduled)
            .fetch_one(&pool)
            .await
            .unwrap();
        (waiting == 41).then_some(())
    })
    .await;
    assert_eq!(provider.asked(), 1, "41 jobs in two workers, one call");

    assert_approved(&panel, &key, &media).await;
    assert_eq!(provider.asked(), 42);
}

#[sqlx::test(migrations = false)]
async fn an_answer_that_uses_up_the_limit_pauses_too(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Spent("10m0s")).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let first = submit(&panel, &key, 1).await;
    assert_approved(&panel, &key, &first).await;
    // The limit is used up for ten minutes, and the second item waits for it.
    panel.leaves_jobs();
    let second = submit(&panel, &key, 1).await;
    let rescheduled = "select count(*) from queue.jobs where queue = 'analysis' and run_at > now() + interval '30 s'";
    eventually("it waits", SOON, async || {
        let waiting: i64 = sqlx::query_scalar(rescheduled)
            .fetch_one(&pool)
            .await
            .unwrap();
        (waiting == 1).then_some(())
    })
    .await;
    assert_eq!(provider.asked(), 1);
    assert_eq!(panel.status(&key, &second[0]).await["status"], "pending");
}

#[sqlx::test(migrations = false)]
async fn a_breaker_opens_for_all_is_probed_by_one_and_closes_for_all(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Status(500)).await;
    let members = "concurrency = 2\nbreaker_seconds = 3\ndeadline_seconds = 6";
    let entries = [provider.entry("openai", members)];
    let panel = Panel::start(&pool, 2, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let media = submit(&panel, &key, 64).await;

    let openings = async || -> Option<i32> {
        sqlx::query_scalar("select openings from provider_states where provider = 'openai'")
            .fetch_optional(&pool)
            .await
            .unwrap()
    };
    let opened = async |times: i32| {
        eventually("the breaker opens", MINUTES, async || {
            (openings().await >= Some(times)).then_some(())
        })
        .await;
    };
    opened(1).await;
    // From now on, each opening means that one probe failed, among 64 jobs. The probe hangs while
    // all other jobs return.
    provider.answer(Mode::Hang);
    for times in 2..=3 {
        opened(times).await;
        // Counted before the openings are read again: the next probe may be under way.
        let asked = provider.asked();
        let openings = usize::try_from(openings().await.unwrap()).unwrap();
        assert!(
            asked <= BURST + openings,
            "{asked} requests, {openings} openings"
        );
    }
    let failed = provider.asked();
    provider.answer(Mode::Well);

    assert_approved(&panel, &key, &media).await;
    assert_eq!(provider.answered(), 64, "each text once");
    let asked = provider.asked() - failed;
    assert!(
        (64..=65).contains(&asked),
        "{asked}: a probe may have been under way"
    );
    let open: i64 = sqlx::query_scalar(
        "select count(*) from provider_states where open_until is not null or failures > 0",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(open, 0);
    for series in ["limit", "breaker"] {
        let paused = format!("gatehouse_provider_paused{{provider=\"openai\",cause={series:?}}}");
        for worker in &panel.workers {
            eventually("each worker shows that it is well", SOON, async || {
                (Panel::metric(worker, &paused).await == Some(0.0)).then_some(())
            })
            .await;
        }
    }
}
