//! Keys that do not work: nobody learns whether one ever did.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sqlx::PgPool;
use store::tenant;

use crate::{
    app::{App, STATUS, SUBMIT, Tenant},
    client::Answer,
};

/// Every way to use a key, with whatever else is right or wrong about the request.
async fn answers(app: &App, key: &str, media: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
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
    for (path, mut body) in bodies {
        body["api_key"] = key.into();
        answers.push(app.post(path, &body).await);
    }
    let query = key.bytes().fold(String::new(), |mut query, byte| {
        let _ = write!(query, "%{byte:02x}");
        query
    });
    for target in [
        format!("{STATUS}?api_key={query}&media_id={media}"),
        format!("{STATUS}?api_key={query}"),
    ] {
        answers.push(app.get(&target).await);
    }
    answers
}

#[sqlx::test(migrations = false)]
async fn case_25_a_key_that_does_not_work_is_answered_as_any_other(pool: PgPool) {
    let app = App::start(pool).await;
    let media = app.submitted("ours").await;

    // Disabled before this process heard of it, and while it had it in its caches and a share of its rate in hand.
    let mut conn = app.pool.acquire().await.unwrap();
    let never_seen = Tenant::create(&app.pool, "other").await;
    tenant::rotate_site_key(&mut conn, never_seen.site)
        .await
        .unwrap();
    let used = app.tenant.key.clone();
    for answer in answers(&app, &used, &media).await {
        assert_ne!(answer.status, 401, "{answer:?}");
    }
    tenant::rotate_site_key(&mut conn, app.tenant.site)
        .await
        .unwrap();

    let unknown = format!("site_{}", "a1B2".repeat(8));
    let mut almost = used.clone();
    almost.pop();
    let keys = [
        &unknown,
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
async fn case_25_what_is_wrong_with_a_request_is_told_to_no_stranger(pool: PgPool) {
    let app = App::start(pool).await;
    let strange: Value = app
        .post(SUBMIT, &json!({ "api_key": "x", "body": 3 }))
        .await
        .problem(400, "invalid_request");
    // That the body is no submission at all is said before anybody looks at the key, and says nothing about it.
    let known = app
        .submit(json!({ "body": 3 }))
        .await
        .problem(400, "invalid_request");
    assert_eq!(strange["errors"], known["errors"]);
}
