//! Erasures: what can be asked for, and by whom.

use domain::scope::Scope;
use serde_json::json;
use sqlx::PgPool;

use super::document::assert_answers;
use crate::app::App;

#[sqlx::test(migrations = false)]
async fn an_erasure_names_its_items_in_exactly_one_possible_way(pool: PgPool) {
    let app = App::start(pool).await;
    // Nobody works here.
    app.leaves(store::jobs::ERASURES);
    let admin = app.member(app.tenant.team).await;
    let id = "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f";
    for (wanted, field, told) in [
        (json!({}), "media_ids", "is required"),
        (json!({ "everything": false }), "everything", "must be true"),
        (
            json!({ "author": "a", "everything": true }),
            "everything",
            "cannot be given with author",
        ),
        (json!({ "media_ids": [] }), "media_ids", "1 to 1000"),
        (
            json!({ "media_ids": vec![id; 1_001] }),
            "media_ids",
            "1 to 1000",
        ),
        (
            json!({ "app_media_ids": ["a", "b\u{0}"] }),
            "app_media_ids[1]",
            "none of them NUL",
        ),
        (
            json!({ "app_media_ids": ["x".repeat(1_025)] }),
            "app_media_ids[0]",
            "at most 1024",
        ),
        (
            json!({ "author": "a", "site_id": id }),
            "site_id",
            "no site of the team",
        ),
    ] {
        let answer = admin.post("/erasures", wanted.clone()).await;
        let problem = answer.problem(400, "invalid_request");
        let fault = &problem["errors"][0];
        assert_eq!(fault["field"], field, "{wanted}: {problem}");
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains(told), "{wanted}: {message}");
    }
    let operator = app.operator().await;
    let nobodys = operator.post("/erasures", json!({ "author": "a" })).await;
    let problem = nobodys.problem(400, "invalid_request");
    assert_eq!(problem["errors"][0]["field"], "team_id", "{problem}");

    let begun = admin.post("/erasures", json!({ "author": "a" })).await;
    assert_eq!(begun.status, 202);
    let begun = begun.json();
    assert_answers("POST", "/erasures", &begun);
    assert_eq!(begun["state"], "running");
    let path = format!("/erasures/{}", begun["id"].as_str().unwrap());
    // It has not failed.
    let resumed = admin.post(&format!("{path}/resume"), json!({})).await;
    assert_eq!(resumed.ok(), begun);
}

#[sqlx::test(migrations = false)]
async fn a_team_has_a_hundred_erasures_at_a_time(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(store::jobs::ERASURES);
    let caller = app
        .caller(Some(app.tenant.team), &[Scope::ErasuresWrite])
        .await;
    for _ in 0..100 {
        let begun = caller.post("/erasures", json!({ "author": "a" })).await;
        assert_eq!(begun.status, 202);
    }
    caller
        .post("/erasures", json!({ "author": "a" }))
        .await
        .problem(409, "limit_reached");
}
