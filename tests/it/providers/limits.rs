//! A limit is respected in whatever form a provider reports it. A long text that reaches it costs
//! other items nothing.

use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;
use tokio::time::sleep;

use crate::support::{FakeProvider, Mode, Panel, eventually};

const HOUR: Duration = Duration::from_hours(1);
const MINUTES: Duration = Duration::from_mins(3);

/// A text that every provider gets in several pieces.
fn long(kilobytes: usize) -> String {
    "Calm words stand in a row. "
        .repeat(kilobytes * 1_000 / 27)
        .trim_end()
        .to_owned()
}

#[sqlx::test(migrations = false)]
async fn case_65_a_limit_that_says_it_is_over_at_once_is_believed_less_each_time(pool: PgPool) {
    let now = FakeProvider::openai(Mode::Limited("0")).await;
    let soon = FakeProvider::openai(Mode::Limited("0.012")).await;
    let entries = [now.entry("now", ""), soon.entry("soon", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let mut submitted = Vec::new();
    let started = Instant::now();
    for name in ["now", "soon"] {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit(&key, "a quiet afternoon").await;
        submitted.push((key, media));
    }
    sleep(Duration::from_secs(12)).await;
    for provider in [&now, &soon] {
        let asked = eventually("it is asked again", MINUTES, async || {
            Some(provider.asked()).filter(|asked| *asked >= 2)
        })
        .await;
        // Requests come after 0, 1, 3, 7, 15, 31 ... seconds.
        let most = (started.elapsed().as_secs() + 1).ilog2() + 1;
        assert!(
            asked <= usize::try_from(most).unwrap(),
            "{asked}, not {most}"
        );
        provider.answer(Mode::Well);
    }
    for (key, media) in submitted {
        let verdict = panel.verdict(&key, &media, MINUTES).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_67_pieces_that_were_answered_are_not_asked_for_again(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Bucket(6_000)).await;
    let entries = [provider.entry("openai", "piece_bytes = 2000")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    // About 7,500 tokens: a quarter of the text has to wait for tokens.
    let text = format!("{} {}", long(30), FakeProvider::VIOLENT);
    let media = panel.submit(&key, &text).await;
    let verdict = panel.verdict(&key, &media, MINUTES).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    let limited = provider.asked() - provider.answered();
    assert!(limited > 0, "it met no limit");
    assert_eq!(provider.answered(), 19, "each piece once");

    // The same if the provider fails between two pieces. That costs an attempt.
    provider.answer(Mode::Fails(5));
    let before = provider.answered();
    let media = panel.submit(&key, &text).await;
    eventually("some pieces are answered", MINUTES, async || {
        (provider.answered() == before + 5).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, MINUTES).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!(provider.answered(), before + 19, "each piece once");
    let kept: i64 = sqlx::query_scalar("select count(*) from analysis_pieces")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(kept, 0, "the analysis replaces them");
}

#[sqlx::test(migrations = false)]
async fn case_66_short_texts_continue_while_long_ones_meet_a_limit(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Bucket(10_000)).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let loud = panel.site("loud", json!({})).await;
    let quiet = panel.site("quiet", json!({})).await;
    // The long texts wait for an hour of tokens.
    panel.leaves_jobs();
    for _ in 0..3 {
        panel.submit(&loud, &long(100)).await;
    }
    eventually("they reached the limit", MINUTES, async || {
        (provider.asked() > provider.answered()).then_some(())
    })
    .await;
    for _ in 0..20 {
        let media = panel.submit(&quiet, "a quiet afternoon").await;
        // Texts worth an hour of tokens wait before those of the other team.
        let verdict = panel.verdict(&quiet, &media, Duration::from_mins(1)).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    let pending: i64 = sqlx::query_scalar("select count(*) from media where status = 'pending'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(pending, 3, "the long ones still wait");
}

#[sqlx::test(migrations = false)]
async fn case_68_a_text_that_meets_a_limit_again_and_again_while_others_pass_is_charged(
    pool: PgPool,
) {
    let provider = FakeProvider::openai(Mode::Short(1_000)).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    // The provider refuses this text until the end.
    panel.leaves_jobs();
    panel.submit(&key, &long(10)).await;
    let attempts = async || {
        let attempts: Option<i16> = sqlx::query_scalar(
            "select max(attempt) from queue.jobs where queue = 'analysis' and run_at > now()",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        attempts.unwrap_or(0)
    };
    sleep(Duration::from_secs(3)).await;
    assert_eq!(attempts().await, 0);
    // After about 0, 1, 3, 7 and 15 seconds.
    eventually("it is charged", MINUTES, async || {
        sleep(Duration::from_secs(1)).await;
        let short = panel.submit(&key, "a quiet afternoon").await;
        panel.verdict(&key, &short, MINUTES).await;
        (attempts().await > 0).then_some(())
    })
    .await;
}
