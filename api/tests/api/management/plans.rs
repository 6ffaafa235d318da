//! Plans.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::plan::UNLIMITED;

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn a_plan_has_the_usual_limits_unless_it_says_otherwise(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let usual = operator
        .post("/plans", json!({ "name": "usual" }))
        .await
        .created();
    assert_eq!(usual["submissions_per_period"], Value::Null);
    assert_eq!(usual["submissions_per_minute"], 1_000);
    assert_eq!(usual["status_queries_per_minute"], 2_000);
    for (member, value) in [
        ("deliveries_per_period", json!(null)),
        ("team_submissions_per_minute", json!(null)),
        ("team_status_queries_per_minute", json!(null)),
        ("endpoints_per_site", json!(10)),
        ("sites_per_team", json!(100)),
        ("site_keys_per_team", json!(200)),
        ("management_tokens_per_team", json!(100)),
        ("rule_groups_per_team", json!(200)),
        ("hash_lists_per_team", json!(100)),
    ] {
        assert_eq!(usual[member], value, "{member}");
    }
    let request = json!({
        "name": "own",
        "submissions_per_period": 0,
        "submissions_per_minute": 1,
        "status_queries_per_minute": 1_000_000,
        "deliveries_per_period": 9_007_199_254_740_991_i64,
        "team_submissions_per_minute": 1,
        "team_status_queries_per_minute": 10_000_000,
        "endpoints_per_site": 100,
        "sites_per_team": 0,
        "site_keys_per_team": 100_000,
        "management_tokens_per_team": 1,
        "rule_groups_per_team": 2,
        "hash_lists_per_team": 1_000,
    });
    let own = operator.post("/plans", request.clone()).await.created();
    for (member, value) in request.as_object().unwrap() {
        assert_eq!(own[member], *value, "{member}");
    }
    let listed = operator.get("/plans").await.ok();
    let names: Vec<_> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert_eq!(names, ["Unlimited", "usual", "own"]);
    assert_eq!(listed["data"][2], own);
}

#[sqlx::test(migrations = false)]
async fn limits_out_of_bounds_are_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let path = format!("/plans/{UNLIMITED}");
    for (member, values) in [
        (
            "submissions_per_period",
            json!([-1, 1.5, "7", true, 9_007_199_254_740_992_i64]),
        ),
        ("submissions_per_minute", json!([0, 1_000_001, -5, 1e3])),
        ("status_queries_per_minute", json!([0, 1_000_001, [], {}])),
        ("deliveries_per_period", json!([-1, "many"])),
        ("team_submissions_per_minute", json!([0, 10_000_001])),
        ("team_status_queries_per_minute", json!([0, 10_000_001])),
        ("endpoints_per_site", json!([-1, 101])),
        ("sites_per_team", json!([-1, 100_001])),
        ("site_keys_per_team", json!([-1, 100_001])),
        ("management_tokens_per_team", json!([-1, 100_001])),
        ("rule_groups_per_team", json!([-1, 100_001])),
        ("hash_lists_per_team", json!([-1, 1_001])),
    ] {
        for value in values.as_array().unwrap() {
            let new = operator
                .post("/plans", json!({ "name": "a", member: value }))
                .await;
            new.blames("invalid_request", &[member]);
            let change = operator.patch(&path, json!({ member: value })).await;
            change.blames("invalid_request", &[member]);
        }
    }
    let cleared = operator
        .patch(&path, json!({ "submissions_per_minute": null }))
        .await;
    cleared.blames("invalid_request", &["submissions_per_minute"]);
    assert_eq!(app.count("select count(*) from plans").await, 1);
}

#[sqlx::test(migrations = false)]
async fn absent_is_unchanged_and_null_is_no_limit(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let request = json!({ "name": "a", "submissions_per_period": 5, "submissions_per_minute": 7 });
    let plan = operator.post("/plans", request).await.created();
    let path = format!("/plans/{}", plan["id"].as_str().unwrap());

    let renamed = operator.patch(&path, json!({ "name": "b" })).await.ok();
    assert_eq!(
        (&renamed["name"], &renamed["submissions_per_period"]),
        (&json!("b"), &json!(5))
    );
    let unlimited = operator
        .patch(&path, json!({ "submissions_per_period": null }))
        .await
        .ok();
    assert_eq!(unlimited["submissions_per_period"], Value::Null);
    assert_eq!(unlimited["submissions_per_minute"], 7);
    for member in [
        "deliveries_per_period",
        "team_submissions_per_minute",
        "team_status_queries_per_minute",
    ] {
        let set = operator.patch(&path, json!({ member: 9 })).await.ok();
        assert_eq!(set[member], 9);
        assert_eq!(operator.get(&path).await.ok(), set);
        let cleared = operator.patch(&path, json!({ member: null })).await.ok();
        assert_eq!(cleared[member], Value::Null);
    }
    for member in ["endpoints_per_site", "sites_per_team", "site_keys_per_team"] {
        let set = operator.patch(&path, json!({ member: 3 })).await.ok();
        assert_eq!(set[member], 3);
        let cleared = operator.patch(&path, json!({ member: null })).await;
        cleared.blames("invalid_request", &[member]);
    }
    let limited = json!({ "submissions_per_period": 0, "status_queries_per_minute": 9 });
    let limited = operator.patch(&path, limited).await.ok();
    assert_eq!(limited["submissions_per_period"], 0);
    assert_eq!(limited["status_queries_per_minute"], 9);
    assert_eq!(operator.get(&path).await.ok(), limited);
}

#[sqlx::test(migrations = false)]
async fn a_name_is_taken_once(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let taken = operator
        .post("/plans", json!({ "name": "Unlimited" }))
        .await;
    taken.problem(409, "name_taken");
    let plan = operator
        .post("/plans", json!({ "name": "a" }))
        .await
        .created();
    let path = format!("/plans/{}", plan["id"].as_str().unwrap());
    let taken = operator.patch(&path, json!({ "name": "Unlimited" })).await;
    taken.problem(409, "name_taken");
    operator.patch(&path, json!({ "name": "a" })).await.ok();
    assert_eq!(operator.get(&path).await.ok(), plan);
    assert_eq!(app.count("select count(*) from audit_log").await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_team_sees_its_own_plan(pool: PgPool) {
    let app = App::start(pool).await;
    app.operator()
        .await
        .post("/plans", json!({ "name": "other" }))
        .await
        .created();
    let member = app.member(app.tenant.team).await;
    let plans = member.get("/plans").await.ok();
    assert_eq!(plans["data"].as_array().unwrap().len(), 1);
    assert_eq!(plans["data"][0]["id"], json!(UNLIMITED));
    let own = member.get(&format!("/plans/{UNLIMITED}")).await.ok();
    assert_eq!(own, plans["data"][0]);
}
