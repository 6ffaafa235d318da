//! What is limited and how it is told: rates, subscriptions, quotas, repetitions, and the order of the checks.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::{
    app::{App, STATUS, SUBMIT},
    client::Answer,
};

const JSON: (&str, &str) = ("Content-Type", "application/json");

impl App {
    async fn submit_as(&self, keys: &[&str], mut body: Value) -> Answer {
        body["api_key"] = self.tenant.key.as_str().into();
        let mut headers = vec![JSON];
        headers.extend(keys.iter().map(|key| ("Idempotency-Key", *key)));
        self.request("POST", SUBMIT, &headers, body.to_string())
            .await
    }

    async fn execute(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.unwrap();
    }
}

/// `r` and `t` of the header `RateLimit`.
fn window(answer: &Answer, policy: &str) -> (u32, u32) {
    let header = answer
        .header("ratelimit")
        .unwrap_or_else(|| panic!("{answer:?}"));
    let rest = header
        .strip_prefix(&format!("\"{policy}\";r="))
        .unwrap_or_else(|| panic!("{header}"));
    let (remaining, seconds) = rest.split_once(";t=").unwrap();
    (remaining.parse().unwrap(), seconds.parse().unwrap())
}

#[sqlx::test(migrations = false)]
async fn every_answer_to_a_valid_key_tells_where_it_stands(pool: PgPool) {
    let app = App::start(pool).await;
    let accepted = app.submit(json!({ "body": "text" })).await;
    let (remaining, seconds) = window(&accepted, "submit");
    assert!(remaining < 1_000 && (1..=60).contains(&seconds));
    assert_eq!(
        accepted.header("ratelimit-policy"),
        Some("\"submit\";q=1000;w=60, \"team_submit\";q=10000;w=60")
    );

    let id = accepted.ok()["id"].clone();
    let found = app.post_keyed(STATUS, json!({ "media_id": id })).await;
    assert!(window(&found, "status").0 < 2_000);
    assert_eq!(
        found.header("ratelimit-policy"),
        Some("\"status\";q=2000;w=60, \"team_status\";q=20000;w=60")
    );
    for refused in [
        app.submit(json!({})).await,
        app.submit(json!({ "body": "a", "rule_group_id": "x" }))
            .await,
    ] {
        assert_eq!(refused.status, 400);
        window(&refused, "submit");
    }
    let unknown = app
        .post_keyed(STATUS, json!({ "media_id": uuid::Uuid::now_v7() }))
        .await;
    assert_eq!(unknown.status, 404);
    window(&unknown, "status");

    let nobody = app
        .post(SUBMIT, &json!({ "api_key": "site_unknown", "body": "a" }))
        .await;
    nobody.problem(401, "invalid_api_key");
    assert_eq!(nobody.header("ratelimit"), None);
}

#[sqlx::test(migrations = false)]
async fn a_spent_minute_is_refused_with_the_time_to_come_back(pool: PgPool) {
    let app = App::start(pool).await;
    app.execute("update plans set submissions_per_minute = 2, status_queries_per_minute = 1")
        .await;
    // Every request counts, accepted or not. The minute may turn once meanwhile, so there are more than two minutes' worth.
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(app.submit(json!({})).await);
    }
    let limited: Vec<_> = answers.iter().filter(|a| a.status == 429).collect();
    assert!(limited.len() >= 2, "{answers:?}");
    for answer in limited {
        answer.problem(429, "rate_limited");
        let (remaining, seconds) = window(answer, "submit");
        assert_eq!(remaining, 0);
        assert_eq!(answer.header("retry-after"), Some(&*seconds.to_string()));
        assert_eq!(
            answer.header("ratelimit-policy"),
            Some("\"submit\";q=2;w=60, \"team_submit\";q=20;w=60")
        );
    }
    let query = json!({ "media_id": uuid::Uuid::now_v7() });
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(app.post_keyed(STATUS, query.clone()).await.status);
    }
    assert_eq!((statuses[0], statuses.contains(&429)), (404, true));
}

#[sqlx::test(migrations = false)]
async fn case_38_a_teams_spent_minute_is_told_as_the_teams(pool: PgPool) {
    let app = App::start(pool).await;
    app.execute("update plans set team_submissions_per_minute = 2")
        .await;
    // The minute may turn once meanwhile, so there are more than two minutes' worth.
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(app.submit(json!({})).await);
    }
    // The nearer limit is the team's.
    assert!(window(&answers[0], "team_submit").0 < 2);
    let limited: Vec<_> = answers.iter().filter(|a| a.status == 429).collect();
    assert!(limited.len() >= 2, "{answers:?}");
    for answer in limited {
        let problem = answer.problem(429, "rate_limited");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("The team's 2 requests"), "{detail}");
        let (remaining, seconds) = window(answer, "team_submit");
        assert_eq!(remaining, 0);
        assert_eq!(answer.header("retry-after"), Some(&*seconds.to_string()));
        assert_eq!(
            answer.header("ratelimit-policy"),
            Some("\"submit\";q=1000;w=60, \"team_submit\";q=2;w=60")
        );
    }
}

#[sqlx::test(migrations = false)]
async fn case_38_spent_deliveries_are_told_as_such(pool: PgPool) {
    let app = App::start(pool).await;
    let text = json!({ "body": "text" });
    app.execute("update plans set deliveries_per_period = 3")
        .await;
    // Without an endpoint, submissions cause none.
    app.submit(text.clone()).await.ok();
    let member = app.member(app.tenant.team).await;
    let path = format!("/sites/{}/webhook-endpoints", app.tenant.site);
    let new = json!({ "url": "https://example.com/" });
    member.post(&path, new).await.created();
    app.submit(text.clone()).await.ok();
    let refused = app.submit(text.clone()).await;
    let problem = refused.problem(403, "quota_exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("deliveries"));
    let usage = format!("/teams/{}/usage", app.tenant.team);
    let usage = member.get(&usage).await.ok();
    let period = &usage["periods"][0];
    assert_eq!(
        (
            &period["submissions"],
            &period["deliveries"],
            &period["delivery_quota"]
        ),
        (&json!(2), &json!(2), &json!(3))
    );
    // An image goes a way of its own.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = json!({ "content_base64": png });
    let problem = app
        .submit(image.clone())
        .await
        .problem(403, "quota_exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("deliveries"));
    assert_eq!(app.count("select count(*) from media_images").await, 0);
    app.execute("update plans set deliveries_per_period = 4")
        .await;
    app.submit(image).await.ok();
    app.execute("update plans set submissions_per_period = 3")
        .await;
    let problem = app.submit(text).await.problem(403, "quota_exceeded");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("submissions of its plan")
    );
}

#[sqlx::test(migrations = false)]
async fn a_team_without_subscription_or_quota_is_told_which(pool: PgPool) {
    let app = App::start(pool).await;
    let text = json!({ "body": "text" });
    app.execute("update plans set submissions_per_period = 1")
        .await;
    app.submit(text.clone()).await.ok();
    app.submit(text.clone())
        .await
        .problem(403, "quota_exceeded");
    app.execute("update subscriptions set state = 'cancelled'")
        .await;
    app.submit(text)
        .await
        .problem(403, "no_active_subscription");
    // What was accepted can still be asked for.
    let id: uuid::Uuid = sqlx::query_scalar("select id from media")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    app.post_keyed(STATUS, json!({ "media_id": id })).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_repeated_request_gets_the_first_answer(pool: PgPool) {
    let app = App::start(pool).await;
    let body = json!({ "body": "text", "metadata": { "a": 1, "b": [2] } });
    let first = app.submit_as(&["order 17"], body).await.ok();
    // Another spelling of the same.
    let same =
        json!({ "metadata": { "b": [2], "a": 1 }, "body": "text", "content_url": null, "new": 1 });
    assert_eq!(app.submit_as(&["order 17"], same).await.ok(), first);
    let other = json!({ "body": "text", "metadata": { "a": 2, "b": [2] } });
    app.submit_as(&["order 17"], other.clone())
        .await
        .problem(409, "idempotency_conflict");
    assert_ne!(app.submit_as(&["order 18"], other).await.ok(), first);
    assert_eq!(app.count("select count(*) from media").await, 2);
}

#[sqlx::test(migrations = false)]
async fn malformed_idempotency_keys_are_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let text = json!({ "body": "text" });
    let long = "k".repeat(256);
    for keys in [vec![""], vec!["é"], vec![long.as_str()], vec!["a", "a"]] {
        app.submit_as(&keys, text.clone())
            .await
            .blames("invalid_request", &["Idempotency-Key"]);
    }
    app.submit_as(&[&long[..255]], text).await.ok();
    assert_eq!(app.count("select count(*) from media").await, 1);
}

/// Each request has the mistake of its line and of all lines below it; the first one is told.
#[sqlx::test(migrations = false)]
async fn checks_come_in_the_documented_order(pool: PgPool) {
    let app = App::start(pool).await;
    app.submit_as(&["taken"], json!({ "body": "first" }))
        .await
        .ok();
    app.execute("update plans set submissions_per_period = 0, submissions_per_minute = 3")
        .await;
    app.execute("update rate_windows set minute = minute - interval '1 minute'")
        .await;
    app.execute("update subscriptions set state = 'cancelled'")
        .await;
    let restarted = App::beside(&app).await;

    let huge = vec![b' '; (16 << 20) + 1];
    restarted
        .post_text(SUBMIT, huge)
        .await
        .problem(413, "payload_too_large");
    restarted
        .post_text(SUBMIT, "{")
        .await
        .problem(400, "invalid_request");
    restarted
        .post(SUBMIT, &json!({ "api_key": "site_unknown", "body": 1 }))
        .await
        .problem(401, "invalid_api_key");
    restarted
        .post(SUBMIT, &json!({ "api_key": "site_unknown" }))
        .await
        .problem(401, "invalid_api_key");
    let conflict = json!({ "body": "second" });
    restarted
        .submit_as(&["taken"], json!({}))
        .await
        .problem(400, "empty_submission");
    restarted
        .submit_as(&["taken"], conflict.clone())
        .await
        .problem(403, "no_active_subscription");
    app.execute("update subscriptions set state = 'active'")
        .await;
    restarted
        .submit_as(&["taken"], conflict)
        .await
        .problem(409, "idempotency_conflict");
    app.execute("update plans set submissions_per_minute = 1000")
        .await;
    let third = App::beside(&app).await;
    third
        .submit_as(&["free"], json!({ "body": "second" }))
        .await
        .problem(403, "quota_exceeded");
}

#[sqlx::test(migrations = false)]
async fn a_spent_minute_is_told_before_mistakes_in_fields(pool: PgPool) {
    let app = App::start(pool).await;
    app.execute("update plans set submissions_per_minute = 1")
        .await;
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(app.submit(json!({})).await.status);
    }
    assert!(answers.contains(&429), "{answers:?}");
}
