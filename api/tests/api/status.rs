//! Status queries: three ways to ask, one answer.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::site;

use crate::app::{App, STATUS};

const JSON: (&str, &str) = ("Content-Type", "application/json");

#[sqlx::test(migrations = false)]
async fn all_three_ways_to_ask_answer_alike_with_every_member(pool: PgPool) {
    let app = App::start(pool).await;
    let metadata = r#"{"z": 1.50, "a":1e2}"#;
    let key = &app.tenant.key;
    let body = format!(
        r#"{{"api_key":"{key}","body":"hello","app_media_id":"a-1","metadata":{metadata}}}"#
    );
    let id = app.post_text(crate::app::SUBMIT, body).await.ok()["id"]
        .as_str()
        .unwrap()
        .to_owned();

    let question = json!({ "api_key": key, "media_id": id }).to_string();
    let by_post = app.post_text(STATUS, &question).await;
    let by_query = app
        .get(&format!("{STATUS}?api_key={key}&media_id={id}"))
        .await;
    let by_body = app.request("GET", STATUS, &[JSON], &question).await;
    let by_both = app
        .request(
            "GET",
            &format!("{STATUS}?media_id={id}"),
            &[JSON],
            &question,
        )
        .await;

    let status = by_post.ok();
    assert_eq!(status["media_id"], id);
    assert_eq!(status["app_media_id"], "a-1");
    assert_eq!(status["site_id"], app.tenant.site.to_string());
    assert_eq!(status["content_type"], "text");
    assert_eq!(status["status"], "pending");
    for absent in [
        "action",
        "moderationResult",
        "moderation_type",
        "moderated_at",
    ] {
        assert_eq!(status.get(absent), Some(&Value::Null), "{absent}");
    }
    assert!(status["created_at"].as_str().unwrap().ends_with('Z'));
    assert!(by_post.body.contains(metadata), "{}", by_post.body);
    for other in [by_query, by_body, by_both] {
        other.ok();
        assert_eq!(other.body, by_post.body);
    }
}

#[sqlx::test(migrations = false)]
async fn a_verdict_is_told_in_the_sites_vocabulary(pool: PgPool) {
    let app = App::start(pool).await;
    let id = app.submitted("hello").await;
    let details = r#"{"rule_violations":[],"processing_time_ms":42,"reason":"1.50"}"#;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "
        insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
        values ('{id}', 1, 'pending_review', 'pending', 'rule', '{details}', '{{}}');
        update media set status = 'pending_review', verdict = 1 where id = '{id}';
        "
    )))
    .execute(&app.pool)
    .await
    .unwrap();

    let answer = app.post_keyed(STATUS, json!({ "media_id": id })).await;
    let status = answer.ok();
    assert_eq!(status["status"], "pending_review");
    assert_eq!(status["action"], "review");
    assert_eq!(status["moderation_type"], "rule");
    assert!(status["moderated_at"].is_string());
    assert!(
        answer
            .body
            .contains(&format!(r#""moderationResult":{details}"#)),
        "{}",
        answer.body
    );

    sqlx::raw_sql("update sites set status_vocabulary = 'completed'")
        .execute(&app.pool)
        .await
        .unwrap();
    let status = app.post_keyed(STATUS, json!({ "media_id": id })).await.ok();
    assert_eq!(status["status"], "completed");
    assert_eq!(status["action"], "review");
}

#[sqlx::test(migrations = false)]
async fn a_query_and_a_body_that_disagree_are_refused_by_field(pool: PgPool) {
    let app = App::start(pool).await;
    let id = app.submitted("hello").await;
    let key = &app.tenant.key;
    let question = json!({ "api_key": key, "media_id": id }).to_string();
    let other = uuid::Uuid::now_v7();
    let target = format!("{STATUS}?media_id={other}");
    app.request("GET", &target, &[JSON], &question)
        .await
        .blames("invalid_request", &["media_id"]);
    let target = format!("{STATUS}?api_key=site_other");
    app.request("GET", &target, &[JSON], &question)
        .await
        .blames("invalid_request", &["api_key"]);
    app.get(&format!(
        "{STATUS}?api_key={key}&api_key={key}&media_id={id}"
    ))
    .await
    .blames("invalid_request", &["api_key"]);
    app.request("GET", STATUS, &[("Content-Type", "text/plain")], &question)
        .await
        .problem(415, "unsupported_media_type");
}

#[sqlx::test(migrations = false)]
async fn the_key_is_checked_before_the_id(pool: PgPool) {
    let app = App::start(pool).await;
    app.submitted("fills the cache").await;
    for body in [
        json!({}),
        json!({ "media_id": "" }),
        json!({ "media_id": "x" }),
    ] {
        app.post_keyed(STATUS, body.clone())
            .await
            .blames("invalid_request", &["media_id"]);
        app.post(STATUS, &body)
            .await
            .blames("invalid_request", &["api_key"]);
    }
    site::keys::rotate(&mut app.pool.acquire().await.unwrap(), app.tenant.site)
        .await
        .unwrap();
    for media in ["", "x", "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f"] {
        app.post_keyed(STATUS, json!({ "media_id": media }))
            .await
            .problem(401, "invalid_api_key");
    }
    app.get(STATUS)
        .await
        .blames("invalid_request", &["api_key"]);
    let bearer = [("Authorization", "bearer site_x")];
    app.request("GET", STATUS, &bearer, "")
        .await
        .problem(401, "invalid_api_key");
}
