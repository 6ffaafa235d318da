//! What several interface processes enforce together. Each name begins with the number of its case in
//! `docs/reliability.md`.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::sync::Semaphore;

use crate::support::{Api, admin, gatehouse, new_site, site_key, text};

/// Requests under way at the same time.
const AT_ONCE: usize = 32;

async fn replicas(pool: &PgPool) -> Arc<[Api]> {
    let (a, b, c) = tokio::join!(Api::start(pool), Api::start(pool), Api::start(pool));
    Arc::new([a, b, c])
}

/// Sends so many submissions, each replica its share, and returns the answers.
async fn submit(
    replicas: &Arc<[Api]>,
    requests: usize,
    body: Value,
    idempotency_key: Option<&'static str>,
) -> Vec<(u16, Value)> {
    submit_each(replicas, requests, &[body], idempotency_key).await
}

/// The same, by turns over several bodies.
async fn submit_each(
    replicas: &Arc<[Api]>,
    requests: usize,
    bodies: &[Value],
    idempotency_key: Option<&'static str>,
) -> Vec<(u16, Value)> {
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let waiting: Vec<_> = (0..requests)
        .map(|n| {
            let (replicas, slots) = (Arc::clone(replicas), Arc::clone(&slots));
            let body = bodies[n / replicas.len() % bodies.len()].clone();
            tokio::spawn(async move {
                let _slot = slots.acquire().await.unwrap();
                let replica = &replicas[n % replicas.len()];
                let answer = replica.post("submit-media", idempotency_key, &body).await;
                answer.unwrap()
            })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.unwrap());
    }
    answers
}

fn accepted(answers: &[(u16, Value)]) -> usize {
    answers.iter().filter(|(status, _)| *status == 200).count()
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn case_27_three_replicas_accept_exactly_a_thousand_in_a_minute(pool: PgPool) {
    let key = site_key(&pool);
    let replicas = replicas(&pool).await;
    let gone: f64 = sqlx::query_scalar("select extract(second from clock_timestamp())::float8")
        .fetch_one(&pool)
        .await
        .unwrap();
    if gone > 20.0 {
        tokio::time::sleep(Duration::from_secs_f64(60.2 - gone)).await;
    }
    let body = json!({ "api_key": key, "body": "text" });
    // So that one of them holds a share which it does not need.
    let mut total = accepted(&submit(&replicas, 1, body.clone(), None).await);
    let answers = submit(&replicas, 1_300, body.clone(), None).await;
    total += accepted(&answers);
    assert_eq!(total, 1_000);
    for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &problem["code"]), (429, &json!("rate_limited")));
    }
    assert_eq!(count(&pool, "select count(*) from media").await, 1_000);
    // Every replica knows, whoever accepted them.
    for replica in &*replicas {
        let (status, _) = replica.post("submit-media", None, &body).await.unwrap();
        assert_eq!(status, 429);
    }
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
    assert_eq!(count(&pool, "select count(*) from media").await, 25);
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
    assert_eq!(count(&pool, "select count(*) from media").await, 1);
    assert_eq!(count(&pool, "select submissions from usage").await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_38_all_keys_of_a_team_through_three_replicas_have_one_limit(pool: PgPool) {
    let site = new_site(&pool);
    let mut keys = vec![site.key];
    for _ in 0..4 {
        let key = admin(&pool, &["create-key", "--site", &site.id]);
        keys.push(text(&key, "site_key"));
    }
    let plan = store::plan::UNLIMITED.to_string();
    let limit = [
        "change-plan",
        "--plan",
        &plan,
        "--team-submissions-per-minute",
        "1200",
    ];
    admin(&pool, &limit);
    let replicas = replicas(&pool).await;
    let gone: f64 = sqlx::query_scalar("select extract(second from clock_timestamp())::float8")
        .fetch_one(&pool)
        .await
        .unwrap();
    if gone > 20.0 {
        tokio::time::sleep(Duration::from_secs_f64(60.2 - gone)).await;
    }
    let bodies: Vec<Value> = keys
        .iter()
        .map(|key| json!({ "api_key": key, "body": "text" }))
        .collect();
    // So that one of them holds shares which it does not need.
    let mut total = accepted(&submit_each(&replicas, 1, &bodies, None).await);
    let answers = submit_each(&replicas, 1_500, &bodies, None).await;
    total += accepted(&answers);
    assert_eq!(total, 1_200);
    for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &problem["code"]), (429, &json!("rate_limited")));
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("The team's 1200 requests"), "{detail}");
    }
    assert_eq!(count(&pool, "select count(*) from media").await, 1_200);
}

#[sqlx::test(migrations = false)]
async fn case_38_two_hundred_at_once_with_twenty_deliveries_left_accept_ten(pool: PgPool) {
    let site = new_site(&pool);
    let url = "https://example.com/";
    let endpoint = ["create-endpoint", "--site", &site.id, "--url", url];
    admin(&pool, &endpoint);
    let replicas = replicas(&pool).await;
    let body = json!({ "api_key": site.key, "body": "text" });
    assert_eq!(
        accepted(&submit(&replicas, 15, body.clone(), None).await),
        15
    );
    let plan = store::plan::UNLIMITED.to_string();
    // Thirty are used. One more is too few for another submission.
    let limit = [
        "change-plan",
        "--plan",
        &plan,
        "--deliveries-per-period",
        "51",
    ];
    admin(&pool, &limit);
    let answers = submit(&replicas, 200, body, None).await;
    assert_eq!(accepted(&answers), 10);
    for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &problem["code"]), (403, &json!("quota_exceeded")));
        assert!(problem["detail"].as_str().unwrap().contains("deliveries"));
    }
    assert_eq!(count(&pool, "select count(*) from media").await, 25);
    assert_eq!(count(&pool, "select deliveries from usage").await, 50);
}

#[sqlx::test(migrations = false)]
async fn case_38_the_command_line_obeys_the_plans_limits(pool: PgPool) {
    let site = new_site(&pool);
    let plan = store::plan::UNLIMITED.to_string();
    let endpoint = [
        "create-endpoint",
        "--site",
        &site.id,
        "--url",
        "https://example.com/",
    ];
    for _ in 0..10 {
        admin(&pool, &endpoint);
    }
    let mut command = gatehouse(&pool);
    let command = command.arg("admin").args(endpoint);
    let refused = command
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("allows 10 webhook endpoints"),
        "{told}"
    );
    let changed = [
        "change-plan",
        "--plan",
        &plan,
        "--endpoints-per-site",
        "11",
        "--name",
        "Large",
    ];
    let changed = admin(&pool, &changed);
    assert_eq!(
        (&changed["name"], &changed["endpoints_per_site"]),
        (&json!("Large"), &json!(11))
    );
    assert_eq!(changed["submissions_per_period"], Value::Null);
    admin(&pool, &endpoint);
    let recorded = "select count(*) from audit_log where action = 'plan.update'";
    assert_eq!(count(&pool, recorded).await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_03_a_request_repeated_after_its_interface_was_killed_gives_the_same_item(
    pool: PgPool,
) {
    let key = site_key(&pool);
    let body = json!({ "api_key": key, "body": "text" });
    // Killed at whatever moment, again and again; the client repeats until it is answered.
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
    assert_eq!(count(&pool, "select count(*) from media").await, 8);
    assert_eq!(count(&pool, "select submissions from usage").await, 8);
}
