//! Three replicas share a minute, a quota and an idempotency key.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde_json::json;
use sqlx::PgPool;

use super::{MEDIA, accepted, count, in_one_minute, replicas, submit};
use crate::support::{Api, site_key};

#[sqlx::test(migrations = false)]
async fn case_27_three_replicas_accept_exactly_a_thousand_in_a_minute(pool: PgPool) {
    let key = site_key(&pool);
    let replicas = replicas(&pool).await;
    let body = json!({ "api_key": key, "body": "text" });
    in_one_minute(&pool, async || {
        let before = count(&pool, MEDIA).await;
        // Now one of them holds a share that it does not need.
        let mut answers = submit(&replicas, 1, body.clone(), None).await;
        answers.extend(submit(&replicas, 1_300, body.clone(), None).await);
        // Every replica knows, no matter which of them accepted the items.
        let mut late = Vec::new();
        for replica in &*replicas {
            let (status, _) = replica.post("submit-media", None, &body).await.unwrap();
            late.push(status);
        }
        let stored = count(&pool, MEDIA).await - before;
        move || {
            assert_eq!(
                (accepted(&answers), stored, late),
                (1_000, 1_000, vec![429; 3])
            );
            for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
                assert_eq!((*status, &problem["code"]), (429, &json!("rate_limited")));
            }
        }
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_28_two_hundred_at_once_with_ten_left_in_the_quota_accept_ten(pool: PgPool) {
    let key = site_key(&pool);
    let replicas = replicas(&pool).await;
    let body = json!({ "api_key": key, "body": "text" });
    assert_eq!(
        accepted(&submit(&replicas, 15, body.clone(), None).await),
        15
    );
    sqlx::query("update plans set submissions_per_period = 25")
        .execute(&pool)
        .await
        .unwrap();
    let answers = submit(&replicas, 200, body, None).await;
    assert_eq!(accepted(&answers), 10);
    for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &problem["code"]), (403, &json!("quota_exceeded")));
    }
    assert_eq!(count(&pool, MEDIA).await, 25);
    assert_eq!(count(&pool, "select submissions from usage").await, 25);
}

#[sqlx::test(migrations = false)]
async fn case_29_fifty_at_once_under_one_idempotency_key_make_one_item(pool: PgPool) {
    let key = site_key(&pool);
    let replicas = replicas(&pool).await;
    let body = json!({ "api_key": key, "body": "text", "metadata": { "a": 1 } });
    let answers = submit(&replicas, 50, body, Some("one")).await;
    assert_eq!(accepted(&answers), 50);
    let ids: HashSet<_> = answers
        .iter()
        .map(|(_, body)| body["id"].as_str())
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(count(&pool, MEDIA).await, 1);
    assert_eq!(count(&pool, "select submissions from usage").await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_03_a_request_repeated_after_its_interface_was_killed_gives_the_same_item(
    pool: PgPool,
) {
    let key = site_key(&pool);
    let body = json!({ "api_key": key, "body": "text" });
    // The interface is killed at a random moment, again and again. The client repeats its request
    // until it gets an answer.
    for round in 0..8_u64 {
        let name = format!("request {round}");
        let dying = Arc::new(Api::start(&pool).await);
        let asking = tokio::spawn({
            let (dying, name, body) = (Arc::clone(&dying), name.clone(), body.clone());
            async move { dying.post("submit-media", Some(&name), &body).await.ok() }
        });
        tokio::time::sleep(Duration::from_millis(round)).await;
        dying.kill();
        let first = asking.await.unwrap();
        let alive = Api::start(&pool).await;
        let again = alive
            .post("submit-media", Some(&name), &body)
            .await
            .unwrap();
        assert_eq!(again.0, 200);
        if let Some(first) = first {
            assert_eq!(first, again);
        }
    }
    assert_eq!(count(&pool, MEDIA).await, 8);
    assert_eq!(count(&pool, "select submissions from usage").await, 8);
}
