//! Which answers are kept, how many, and for how long.

use sqlx::PgPool;

use super::{CALM, HOUR, MINUTES, SOON, cached, moderate};
use crate::support::{FakeProvider, Mode, Panel, Wire, Worker};

pub(super) async fn count(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from cached_answers")
        .fetch_one(pool)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn case_72_failures_and_incomplete_answers_are_not_kept(pool: PgPool) {
    let provider = FakeProvider::start(Wire::Http, Mode::Status(400)).await;
    let entries = [provider.entry("own", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", cached()).await;
    let mut asked = 0;
    // The provider refuses the text, leaves the category out, and fails halfway.
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
async fn case_72_a_team_has_no_more_answers_than_the_limit_and_the_oldest_are_dropped_first(
    pool: PgPool,
) {
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
async fn case_72_an_answer_is_deleted_with_its_item_and_with_its_text(pool: PgPool) {
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
