//! The audit log.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::plan::UNLIMITED;

use super::Caller;
use crate::app::{App, Tenant};

async fn entries(caller: &Caller<'_>, query: &str) -> Vec<Value> {
    let list = caller.get(&format!("/audit-log{query}")).await.ok();
    list["data"].as_array().unwrap().clone()
}

#[sqlx::test(migrations = false)]
async fn every_change_is_recorded_with_who_and_what_and_which_request(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let actor = operator.id().await;
    let team = operator
        .post("/teams", json!({ "name": "a" }))
        .await
        .created()["id"]
        .clone();
    let team_path = format!("/teams/{}", team.as_str().unwrap());
    let plan = operator
        .post("/plans", json!({ "name": "p" }))
        .await
        .created()["id"]
        .clone();
    let plan_path = format!("/plans/{}", plan.as_str().unwrap());
    operator
        .patch(&team_path, json!({ "name": "b" }))
        .await
        .ok();
    operator
        .patch(&plan_path, json!({ "submissions_per_period": 7 }))
        .await
        .ok();
    let put = json!({ "plan_id": plan, "state": "active" });
    operator
        .put(&format!("{team_path}/subscription"), put)
        .await
        .ok();
    let new = json!({ "name": "t", "team_id": team, "scopes": ["teams:read"] });
    let token = operator.post("/tokens", new).await.created()["id"].clone();
    let deleted = operator
        .delete(&format!("/tokens/{}", token.as_str().unwrap()))
        .await;
    deleted.done();

    let log = entries(&operator, "").await;
    let told: Vec<_> = log
        .iter()
        .rev()
        .map(|entry| {
            (
                entry["action"].as_str().unwrap(),
                &entry["team_id"],
                &entry["target_id"],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("team.create", &team, &team),
            ("plan.create", &Value::Null, &plan),
            ("team.update", &team, &team),
            ("plan.update", &Value::Null, &plan),
            ("subscription.update", &team, &team),
            ("token.create", &team, &token),
            ("token.disable", &team, &token),
        ]
    );
    assert_eq!(
        log[0]["request_id"].as_str(),
        deleted.header("x-request-id")
    );
    for entry in &log {
        assert_eq!(
            (&entry["actor"], &entry["actor_id"]),
            (&json!("token"), &json!(actor))
        );
        assert!(entry["request_id"].is_string() && entry["occurred_at"].is_string());
    }
    assert_eq!(
        log[4]["details"],
        json!({ "changed": { "name": { "from": "a", "to": "b" } } })
    );
    assert_eq!(
        log[3]["details"],
        json!({ "changed": { "submissions_per_period": { "from": null, "to": 7 } } })
    );
    assert_eq!(
        log[2]["details"],
        json!({ "changed": { "plan_id": { "from": UNLIMITED, "to": plan } } })
    );
    assert_eq!(log[6]["details"]["created"]["name"], "a");
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_recorded_is_not_done(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    sqlx::raw_sql("alter table audit_log add constraint full_log check (false)")
        .execute(&app.pool)
        .await
        .unwrap();
    let new = json!({ "name": "t", "scopes": ["teams:read"] });
    operator
        .post("/teams", json!({ "name": "a" }))
        .await
        .problem(503, "overloaded");
    operator
        .post("/tokens", new)
        .await
        .problem(503, "overloaded");
    let path = format!("/tokens/{}", operator.id().await);
    operator.delete(&path).await.problem(503, "overloaded");
    assert_eq!(app.count("select count(*) from teams").await, 1);
    assert_eq!(app.count("select count(*) from management_tokens").await, 1);
    operator.get("/tokens").await.ok();
}

#[sqlx::test(migrations = false)]
async fn the_log_is_filtered_by_time_action_and_target(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for name in ["a", "b", "c"] {
        operator
            .post("/plans", json!({ "name": name }))
            .await
            .created();
    }
    operator
        .patch(&format!("/plans/{UNLIMITED}"), json!({ "name": "d" }))
        .await
        .ok();
    let log = entries(&operator, "").await;
    assert_eq!(log.len(), 4);
    let time = |n: usize| log[n]["occurred_at"].as_str().unwrap();
    let since = entries(&operator, &format!("?since={}", time(2))).await;
    assert_eq!(since, log[..3]);
    let until = entries(&operator, &format!("?until={}", time(2))).await;
    assert_eq!(until, log[3..]);
    let between = format!("?since={}&until={}", time(2), time(1));
    assert_eq!(entries(&operator, &between).await, log[2..3]);
    assert_eq!(entries(&operator, "?action=plan.update").await, log[..1]);
    let target = format!("?target_id={UNLIMITED}");
    assert_eq!(entries(&operator, &target).await, log[..1]);
    assert!(
        entries(&operator, &format!("{target}&action=plan.create"))
            .await
            .is_empty()
    );
    for (query, field) in [
        ("since=yesterday", "since"),
        ("until=", "until"),
        ("action=plan.delete", "action"),
        ("target_id=x", "target_id"),
    ] {
        let answer = operator.get(&format!("/audit-log?{query}")).await;
        answer.blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_team_sees_what_concerns_it(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await.team;
    let operator = app.operator().await;
    operator
        .post("/plans", json!({ "name": "a" }))
        .await
        .created();
    for team in [app.tenant.team, other] {
        let path = format!("/teams/{team}");
        operator
            .patch(&path, json!({ "name": "renamed" }))
            .await
            .ok();
    }
    let member = app.member(app.tenant.team).await;
    let log = entries(&member, "").await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["team_id"], json!(app.tenant.team));
    assert!(
        entries(&member, &format!("?target_id={other}"))
            .await
            .is_empty()
    );
}
