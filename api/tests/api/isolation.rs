//! What belongs to another tenant does not exist.

use serde_json::json;
use sqlx::PgPool;
use store::rule_group::{self, NewVersion};

use crate::app::{App, STATUS, SUBMIT, Tenant};

#[sqlx::test(migrations = false)]
async fn anothers_media_is_as_unknown_as_none(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await;
    let answer = app
        .post(SUBMIT, &json!({ "api_key": other.key, "body": "theirs" }))
        .await
        .ok();
    let theirs = app
        .post_keyed(STATUS, json!({ "media_id": answer["id"] }))
        .await;
    let nobodys = app
        .post_keyed(STATUS, json!({ "media_id": uuid::Uuid::now_v7() }))
        .await;
    let mut told = [theirs, nobodys].map(|answer| answer.problem(404, "media_not_found"));
    for problem in &mut told {
        problem["request_id"].take();
    }
    assert_eq!(told[0], told[1]);
}

#[sqlx::test(migrations = false)]
async fn a_group_of_the_team_can_be_named_and_a_foreign_one_cannot(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await;
    let mut tx = app.pool.begin().await.unwrap();
    let version = NewVersion {
        rules: &[],
        uses_ai: true,
    };
    let ours = rule_group::create(&mut tx, app.tenant.team, "second", version)
        .await
        .unwrap();
    let theirs = rule_group::create(&mut tx, other.team, "second", version)
        .await
        .unwrap();
    tx.commit().await.unwrap();

    let with = |group: String| json!({ "body": "a", "rule_group_id": group });
    app.submit(with(ours.to_string())).await.ok();
    app.submit(with(theirs.to_string()))
        .await
        .blames("unknown_rule_group", &["rule_group_id"]);
    assert_eq!(
        app.count("select count(*) from queue.jobs where queue = 'analysis'")
            .await,
        1
    );
}
