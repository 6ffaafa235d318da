//! Each review of a bulk decision is decided once, also when the service is killed while it stores a slice.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Proxied, count};
use crate::{proxy::Trap, support::eventually};

const PATIENCE: Duration = Duration::from_mins(3);
/// A text that the demo's rules send to a person.
const DOUBTFUL: &str = "see review-2024 for the details";

async fn decided_once(pool: &PgPool, trap: Trap) {
    let service = Proxied::start(pool).await;
    let up = &service.up;
    let path = format!("/sites/{}/desk", up.demo().site_id);
    let (code, settings) = up.patch(&path, &json!({ "undo_seconds": 1 })).await;
    assert_eq!(code, 200, "{settings}");
    for _ in 0..3 {
        let media = up.submit(json!({ "body": DOUBTFUL })).await;
        assert_eq!(up.verdict(&media).await["status"], "pending_review");
    }
    let reviews: Vec<Uuid> = sqlx::query_scalar("select id from review_tasks")
        .fetch_all(pool)
        .await
        .unwrap();
    service
        .proxy
        .set(&["update bulk_decisions set done = done"], trap);
    let approval = json!({ "decision": "approve", "review_ids": reviews });
    let (code, bulk) = up.manage("/reviews/bulk", &approval).await;
    assert_eq!(code, 202, "{bulk}");
    eventually("the trap has sprung", PATIENCE, async || {
        service.proxy.has_sprung().then_some(())
    })
    .await;
    let opinions = "select count(*) from review_opinions";
    assert_eq!(count(pool, opinions).await, 0);

    let (_up, _provider, _data) = service.kill_and_start(pool).await;
    let approved = "select count(*) from media where status = 'approved'";
    eventually("all are approved", PATIENCE, async || {
        (count(pool, approved).await == 3).then_some(())
    })
    .await;
    assert_eq!(count(pool, opinions).await, 3);
    assert_eq!(
        count(
            pool,
            "select count(*) from verdicts where moderation_type = 'manual'"
        )
        .await,
        3
    );
    let done = "select done::bigint from bulk_decisions where state = 'finished' and skipped = 0";
    assert_eq!(count(pool, done).await, 3);
}

#[sqlx::test(migrations = false)]
async fn case_83_a_service_killed_before_it_stores_a_slice_decides_each_review_once(pool: PgPool) {
    decided_once(&pool, Trap::HoldBefore).await;
}

#[sqlx::test(migrations = false)]
async fn case_83_a_service_killed_before_it_commits_a_slice_decides_each_review_once(pool: PgPool) {
    decided_once(&pool, Trap::HoldAfter).await;
}
