//! Submissions: what is taken, and every way in which one is refused.

use domain::event::EventKind;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{endpoint, site};

use crate::app::{App, SUBMIT};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[sqlx::test(migrations = false)]
async fn text_and_images_are_accepted_and_stored(pool: PgPool) {
    let app = App::start(pool).await;
    let submissions = [
        json!({ "body": "hello" }),
        json!({ "content_url": "https://images.example.com/a.png" }),
        json!({ "content_base64": PNG, "body": "" }),
        json!({ "content_base64": format!("data:image/jpeg;base64,{PNG}"), "body": "both" }),
        json!({ "body": "everything", "content_url": null, "content_base64": null, "rule_group_id": null,
                "app_media_id": "a-1", "metadata": { "a": [1] }, "unknown": { "b": 2 } }),
    ];
    for submission in submissions {
        let answer = app.submit(submission).await.ok();
        assert_eq!(answer["status"], "pending");
        assert!(answer["message"].is_string());
        assert!(uuid(&answer["id"]));
    }
    assert_eq!(app.count("select count(*) from media").await, 5);
    assert_eq!(
        app.count("select count(*) from media where content_type = 'image'")
            .await,
        3
    );
    assert_eq!(
        app.count("select count(*) from media_images where format = 'png'")
            .await,
        2
    );
    assert_eq!(
        app.count("select count(*) from events where kind = 'media.created'")
            .await,
        5
    );
    assert_eq!(app.count("select count(*) from queue.jobs").await, 5);
}

fn uuid(id: &Value) -> bool {
    id.as_str()
        .is_some_and(|id| id.parse::<domain::id::MediaId>().is_ok())
}

#[sqlx::test(migrations = false)]
async fn each_mistake_in_a_field_has_its_code_and_names_the_field(pool: PgPool) {
    let app = App::start(pool).await;
    let cases = [
        (json!({}), "empty_submission", vec!["body"]),
        (
            json!({ "body": "", "content_url": "" }),
            "empty_submission",
            vec!["body"],
        ),
        (
            json!({ "content_url": "https://a.example/", "content_base64": PNG }),
            "conflicting_content",
            vec!["content_base64"],
        ),
        (
            json!({ "body": "a".repeat(102_401) }),
            "text_too_large",
            vec!["body"],
        ),
        (
            json!({ "content_base64": "A".repeat(14_000_000) }),
            "image_too_large",
            vec!["content_base64"],
        ),
        (
            json!({ "content_base64": "%" }),
            "invalid_image",
            vec!["content_base64"],
        ),
        (
            json!({ "content_base64": "aGVsbG8=" }),
            "unsupported_image",
            vec!["content_base64"],
        ),
        (
            json!({ "body": "a", "content_url": "ftp://a.example/" }),
            "invalid_request",
            vec!["content_url"],
        ),
        (json!({ "body": "a\u{0}" }), "invalid_request", vec!["body"]),
        (
            json!({ "body": "a", "app_media_id": "\u{0}" }),
            "invalid_request",
            vec!["app_media_id"],
        ),
        (
            json!({ "body": "a", "metadata": { "a": "\u{0}" } }),
            "invalid_request",
            vec!["metadata"],
        ),
        (
            json!({ "body": "a", "metadata": [] }),
            "invalid_request",
            vec!["metadata"],
        ),
        (
            json!({ "body": "a", "metadata": { "a": "x".repeat(16_384) } }),
            "invalid_request",
            vec!["metadata"],
        ),
        (
            json!({ "body": "a", "rule_group_id": "x" }),
            "invalid_request",
            vec!["rule_group_id"],
        ),
        (
            json!({ "body": "a", "rule_group_id": uuid::Uuid::now_v7() }),
            "unknown_rule_group",
            vec!["rule_group_id"],
        ),
        (
            json!({ "rule_group_id": "x", "app_media_id": "\u{0}" }),
            "empty_submission",
            vec!["body", "app_media_id", "rule_group_id"],
        ),
    ];
    for (submission, code, fields) in cases {
        app.submit(submission).await.blames(code, &fields);
    }
    assert_eq!(app.count("select count(*) from media").await, 0);
}

#[sqlx::test(migrations = false)]
async fn json_is_parsed_strictly(pool: PgPool) {
    let app = App::start(pool).await;
    let key = app.tenant.key.clone();
    let invalid: [(String, &[&str]); 10] = [
        (String::new(), &[]),
        ("[]".into(), &[]),
        (format!(r#"["{key}","hello"]"#), &[]),
        (format!(r#"{{"api_key":"{key}","body":"a""#), &[]),
        (format!(r#"{{"api_key":"{key}","body":3}}"#), &["body"]),
        (
            format!(
                r#"{{"api_key":"{key}","body":true,"content_url":[],"app_media_id":{{}},"metadata":7}}"#
            ),
            &["body", "content_url", "app_media_id", "metadata"],
        ),
        (
            format!(r#"{{"api_key":"{key}","body":"a","body":"b"}}"#),
            &["body"],
        ),
        (
            format!(r#"{{"api_key":"{key}","api_key":"{key}","body":"b"}}"#),
            &["api_key"],
        ),
        (r#"{"api_key":7,"body":"b"}"#.into(), &["api_key"]),
        (
            format!(r#"{{"api_key":"{key}","body":"\ud80"}}"#),
            &["body"],
        ),
    ];
    for (body, fields) in invalid {
        app.post_text(SUBMIT, body)
            .await
            .blames("invalid_request", fields);
    }
    let mut not_utf8 = format!(r#"{{"api_key":"{key}","body":"?"}}"#).into_bytes();
    let at = not_utf8.iter().position(|byte| *byte == b'?').unwrap();
    not_utf8[at] = 0xff;
    app.post_text(SUBMIT, not_utf8)
        .await
        .blames("invalid_request", &["body"]);
    assert_eq!(app.count("select count(*) from media").await, 0);
}

#[sqlx::test(migrations = false)]
async fn case_56_a_wrong_key_is_told_before_wrong_fields_and_these_count(pool: PgPool) {
    let app = App::start(pool).await;
    let unknown = "site_0000000000000000000000000000000000000000000000000000000000000000";
    for wrong in [
        json!({ "body": 3 }),
        json!({ "body": ["a"], "app_media_id": 7 }),
    ] {
        let mut stranger = wrong.clone();
        stranger["api_key"] = json!(unknown);
        app.post(SUBMIT, &stranger)
            .await
            .problem(401, "invalid_api_key");
        let answer = app.submit(wrong).await;
        assert!(answer.header("ratelimit").is_some(), "it is counted");
        answer.problem(400, "invalid_request");
    }
    let status = "/functions/v1/get-media-status";
    let stranger = json!({ "api_key": unknown, "media_id": 7 });
    app.post(status, &stranger)
        .await
        .problem(401, "invalid_api_key");
    let mine = json!({ "api_key": app.tenant.key, "media_id": 7 });
    let answer = app.post(status, &mine).await;
    assert!(answer.header("ratelimit").is_some());
    answer.blames("invalid_request", &["media_id"]);
}

#[sqlx::test(migrations = false)]
async fn only_json_is_taken(pool: PgPool) {
    let app = App::start(pool).await;
    let body = json!({ "api_key": app.tenant.key, "body": "a" }).to_string();
    for headers in [
        &[][..],
        &[("Content-Type", "text/plain")],
        &[("Content-Type", "application/x-www-form-urlencoded")],
    ] {
        app.request("POST", SUBMIT, headers, &body)
            .await
            .problem(415, "unsupported_media_type");
    }
    app.request(
        "POST",
        SUBMIT,
        &[("Content-Type", "application/json; charset=utf-8")],
        &body,
    )
    .await
    .ok();
}

#[sqlx::test(migrations = false)]
async fn a_missing_key_is_named_and_a_bearer_header_is_no_key(pool: PgPool) {
    let app = App::start(pool).await;
    for body in [
        json!({ "body": "a" }),
        json!({ "api_key": null, "body": "a" }),
        json!({ "api_key": "" }),
    ] {
        app.post(SUBMIT, &body)
            .await
            .blames("invalid_request", &["api_key"]);
    }
    let bearer = format!("Bearer {}", app.tenant.key);
    let headers = [
        ("Content-Type", "application/json"),
        ("Authorization", bearer.as_str()),
    ];
    let answer = app
        .request("POST", SUBMIT, &headers, r#"{"body":"a"}"#)
        .await;
    assert!(
        answer.problem(401, "invalid_api_key")["detail"]
            .as_str()
            .unwrap()
            .contains("api_key")
    );

    let headers = [
        ("Content-Type", "application/json"),
        ("Authorization", "Bearer nonsense"),
    ];
    let body = json!({ "api_key": app.tenant.key, "body": "a" }).to_string();
    app.request("POST", SUBMIT, &headers, body).await.ok();
}

#[sqlx::test(migrations = false)]
async fn what_changes_after_the_cache_was_filled_counts_for_the_next_submission(pool: PgPool) {
    let app = App::start(pool).await;
    app.submitted("fills the cache").await;
    let mut conn = app.pool.acquire().await.unwrap();
    endpoint::create(
        &mut conn,
        app.tenant.site,
        "https://example.com/",
        EventKind::ALL,
    )
    .await
    .unwrap();
    app.submitted("is delivered").await;
    assert_eq!(app.count("select count(*) from deliveries").await, 1);

    let (_, key) = site::keys::rotate(&mut conn, app.tenant.site)
        .await
        .unwrap();
    app.submit(json!({ "body": "a" }))
        .await
        .problem(401, "invalid_api_key");
    app.post(SUBMIT, &json!({ "api_key": key.expose(), "body": "a" }))
        .await
        .ok();
}

#[sqlx::test(migrations = false)]
async fn too_much_waiting_is_answered_503_with_a_time_to_come_back(pool: PgPool) {
    let mut options = crate::app::Options::default();
    options.accept.bounds.waiting_bytes = 1_000;
    let app = App::with(pool, options).await;
    let answer = app.submit(json!({ "body": "a".repeat(2_000) })).await;
    answer.problem(503, "overloaded");
    assert_eq!(answer.header("retry-after"), Some("1"));
    app.submitted("small").await;
}
