//! Keys that do not work: nobody learns whether one ever did.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sqlx::PgPool;
use store::site;

use crate::{
    app::{App, STATUS, SUBMIT, Tenant},
    client::Answer,
};

/// A path to post a body to, or a target to get.
type Request = (String, Option<Value>);

/// Every way to use a key, with whatever else is right or wrong about the request.
fn requests(key: &str, media: &str) -> Vec<Request> {
    let bodies = [
        (SUBMIT, json!({ "body": "a" })),
        (SUBMIT, json!({})),
        (
            SUBMIT,
            json!({ "body": "a", "rule_group_id": "none", "metadata": {} }),
        ),
        (SUBMIT, json!({ "content_base64": "iVBORw0KGgo=" })),
        (STATUS, json!({ "media_id": media })),
        (STATUS, json!({ "media_id": "none" })),
        (STATUS, json!({})),
    ];
    let posts = bodies.into_iter().map(|(path, mut body)| {
        body["api_key"] = key.into();
        (path.to_owned(), Some(body))
    });
    let query = key.bytes().fold(String::new(), |mut query, byte| {
        let _ = write!(query, "%{byte:02x}");
        query
    });
    let gets = [
        format!("{STATUS}?api_key={query}&media_id={media}"),
        format!("{STATUS}?api_key={query}"),
    ];
    posts.chain(gets.map(|target| (target, None))).collect()
}

async fn ask(app: &App, (target, body): Request) -> Answer {
    match body {
        Some(body) => app.post(&target, &body).await,
        None => app.get(&target).await,
    }
}

async fn answers(app: &App, key: &str, media: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for request in requests(key, media) {
        answers.push(ask(app, request).await);
    }
    answers
}

fn unknown_key() -> String {
    format!("site_{}", "a1B2".repeat(8))
}

#[sqlx::test(migrations = false)]
async fn case_25_a_key_that_does_not_work_is_answered_as_any_other(pool: PgPool) {
    let app = App::start(pool).await;
    let media = app.submitted("ours").await;

    // Disabled before this process heard of it, and while it had it in its caches and a share of its rate in hand.
    let mut conn = app.pool.acquire().await.unwrap();
    let never_seen = Tenant::create(&app.pool, "other").await;
    // Whoever counted its requests would soon refuse them for being too many.
    let limit =
        "update sites set submissions_per_minute = 1, status_queries_per_minute = 1 where id = $1";
    sqlx::query(limit)
        .bind(never_seen.site.as_uuid())
        .execute(&mut *conn)
        .await
        .unwrap();
    site::keys::rotate(&mut conn, never_seen.site)
        .await
        .unwrap();
    let used = app.tenant.key.clone();
    for answer in answers(&app, &used, &media).await {
        assert_ne!(answer.status, 401, "{answer:?}");
    }
    site::keys::rotate(&mut conn, app.tenant.site)
        .await
        .unwrap();

    let mut almost = used.clone();
    almost.pop();
    let keys = [
        &unknown_key(),
        &never_seen.key,
        &used,
        &almost,
        &format!("{used}x"),
        &used.replace("site_", "SITE_"),
        &format!(" {used}"),
        "site_",
        "x",
        "\u{0}",
        "ключ",
        "' or 1 = 1 --",
        &"site_".repeat(300),
    ];
    let mut first = None;
    for key in keys {
        // Twice: the second time everything is as a refusal leaves it.
        for _ in 0..2 {
            for answer in answers(&app, key, &media).await {
                answer.problem(401, "invalid_api_key");
                let likeness = answer.likeness();
                assert_eq!(
                    *first.get_or_insert_with(|| likeness.clone()),
                    likeness,
                    "{key:?}"
                );
            }
        }
    }
}

#[sqlx::test(migrations = false)]
async fn case_25_whatever_is_asked_first_after_a_key_was_disabled_is_answered_as_any_other(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let media = app.submitted("ours").await;
    let mut conn = app.pool.acquire().await.unwrap();
    for nth in 0..requests("", &media).len() {
        let (id, key) = site::keys::create(&mut conn, app.tenant.site)
            .await
            .unwrap();
        // Now this process has it in its caches, and shares of its rates.
        let body = json!({ "api_key": key.expose(), "body": "a", "media_id": media });
        for path in [SUBMIT, STATUS] {
            app.post(path, &body).await.ok();
        }
        site::keys::disable(&mut conn, id).await.unwrap();
        let request = |key: &str| requests(key, &media).swap_remove(nth);
        let disabled = ask(&app, request(key.expose())).await;
        disabled.problem(401, "invalid_api_key");
        let unknown = ask(&app, request(&unknown_key())).await;
        assert_eq!(disabled.likeness(), unknown.likeness(), "{nth}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_25_what_is_wrong_with_a_request_is_told_to_no_stranger(pool: PgPool) {
    let app = App::start(pool).await;
    let wrong = json!({ "body": 3 });
    for key in [
        "x",
        "site_0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        let mut strange = wrong.clone();
        strange["api_key"] = json!(key);
        let problem = app
            .post(SUBMIT, &strange)
            .await
            .problem(401, "invalid_api_key");
        assert_eq!(problem["errors"], Value::Null);
    }
    app.submit(wrong).await.blames("invalid_request", &["body"]);
}
