//! Teams.

use serde_json::json;
use sqlx::PgPool;
use store::plan::UNLIMITED;

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn a_new_team_subscribes_to_the_plan_that_it_names_or_to_the_unlimited_one(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let small = operator
        .post("/plans", json!({ "name": "Small" }))
        .await
        .created();
    for (request, plan) in [
        (json!({ "name": "a" }), json!(UNLIMITED)),
        (json!({ "name": "a", "plan_id": null }), json!(UNLIMITED)),
        (
            json!({ "name": "a", "plan_id": small["id"] }),
            small["id"].clone(),
        ),
    ] {
        let team = operator.post("/teams", request).await.created();
        let path = format!("/teams/{}", team["id"].as_str().unwrap());
        assert_eq!(operator.get(&path).await.ok(), team);
        let subscription = operator.get(&format!("{path}/subscription")).await.ok();
        assert_eq!(subscription["plan_id"], plan);
        assert_eq!(subscription["state"], "active");
    }
}

#[sqlx::test(migrations = false)]
async fn a_team_that_cannot_be_created_is_not(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let long = "a".repeat(101);
    for (request, field) in [
        (json!({}), "name"),
        (json!({ "name": null }), "name"),
        (json!({ "name": 7 }), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": " a" }), "name"),
        (json!({ "name": "a\u{0}" }), "name"),
        (json!({ "name": long }), "name"),
        (json!({ "name": "a", "plan_id": "x" }), "plan_id"),
        (
            json!({ "name": "a", "plan_id": uuid::Uuid::now_v7() }),
            "plan_id",
        ),
        (json!({ "name": "a", "plan": UNLIMITED }), "plan"),
        (json!({ "name": "a", "id": UNLIMITED }), "id"),
    ] {
        operator
            .post("/teams", request)
            .await
            .blames("invalid_request", &[field]);
    }
    for body in [
        "",
        "[]",
        "{",
        r#"{"name":"a","name":"b"}"#,
        "{\"name\":\"\u{fffd}",
    ] {
        operator
            .send("POST", "/teams", body)
            .await
            .problem(400, "invalid_request");
    }
    assert_eq!(app.count("select count(*) from teams").await, 1);
    assert_eq!(app.count("select count(*) from audit_log").await, 0);
}

#[sqlx::test(migrations = false)]
async fn only_json_of_bounded_size_is_taken(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let authorization = format!("Bearer {}", operator.token);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Content-Type", "text/plain"),
    ];
    app.request("POST", "/management/v1/teams", &headers, r#"{"name":"a"}"#)
        .await
        .problem(415, "unsupported_media_type");
    let body = " ".repeat((16 << 20) + 1);
    operator
        .send("POST", "/teams", &body)
        .await
        .problem(413, "payload_too_large");
}

#[sqlx::test(migrations = false)]
async fn a_patch_changes_what_it_has_and_nothing_else(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let path = format!("/teams/{}", app.tenant.team);
    let before = member.get(&path).await.ok();
    assert_eq!(member.patch(&path, json!({})).await.ok(), before);
    assert_eq!(
        member.patch(&path, json!({ "name": "main" })).await.ok(),
        before
    );
    assert_eq!(app.count("select count(*) from audit_log").await, 0);

    let after = member.patch(&path, json!({ "name": "Größer" })).await.ok();
    assert_eq!(after["name"], "Größer");
    assert_eq!(after["created_at"], before["created_at"]);
    assert_eq!(member.get(&path).await.ok(), after);
    for request in [json!({ "name": null }), json!({ "name": "" })] {
        member
            .patch(&path, request)
            .await
            .blames("invalid_request", &["name"]);
    }
    member
        .patch(&path, json!({ "nmae": "typo" }))
        .await
        .blames("invalid_request", &["nmae"]);
    assert_eq!(member.get(&path).await.ok(), after);
    let operator = app.operator().await;
    let nobody = format!("/teams/{}", uuid::Uuid::now_v7());
    operator
        .patch(&nobody, json!({ "name": "a" }))
        .await
        .problem(404, "not_found");
}
