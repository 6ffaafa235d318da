//! Policies of the review desk, and its settings for a site.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::document::assert_answers;
use crate::app::{App, Tenant};

fn policy(code: &str) -> Value {
    json!({ "code": code, "name": "Spam", "reason": "It is spam." })
}

#[sqlx::test(migrations = false)]
async fn a_policy_is_created_read_changed_and_deleted(pool: PgPool) {
    let app = App::start(pool).await;
    let lead = app.member(app.tenant.team).await;
    let mut whole = policy("hate.speech");
    whole["guideline"] = "Attacks.\nNot: harsh words.".into();
    whole["key"] = 3.into();
    whole["severity"] = "critical".into();
    whole["categories"] = json!(["hate", "violence"]);
    whole["rules"] = json!(["no insults"]);
    whole["two_people"] = true.into();
    let created = lead.post("/policies", whole.clone()).await.created();
    assert_answers("POST", "/policies", &created);
    for (member, value) in whole.as_object().unwrap() {
        assert_eq!(created[member], *value, "{member}");
    }
    let path = format!("/policies/{}", created["id"].as_str().unwrap());
    assert_eq!(lead.get(&path).await.ok(), created);
    assert_eq!(lead.get("/policies").await.ok()["data"], json!([created]));

    let change = json!({ "key": null, "severity": "low", "categories": [] });
    let changed = lead.patch(&path, change).await.ok();
    assert_eq!(
        (
            &changed["key"],
            &changed["severity"],
            &changed["categories"],
            &changed["rules"]
        ),
        (
            &json!(null),
            &json!("low"),
            &json!([]),
            &json!(["no insults"])
        )
    );
    lead.patch(&path, json!({})).await.ok();
    lead.delete(&path).await.done();
    lead.get(&path).await.problem(404, "not_found");
    lead.delete(&path).await.problem(404, "not_found");
    assert_eq!(lead.get("/policies").await.ok()["data"], json!([]));
    // Its code and key are free.
    let again = lead.post("/policies", whole).await.created();
    assert_ne!(again["id"], created["id"]);
    let log = lead.get("/audit-log").await.ok();
    let actions: Vec<_> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].clone())
        .collect();
    assert_eq!(
        actions,
        [
            "policy.create",
            "policy.delete",
            "policy.update",
            "policy.create"
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_policies_are_named(pool: PgPool) {
    let app = App::start(pool).await;
    let lead = app.member(app.tenant.team).await;
    let mut first = policy("spam");
    first["key"] = 1.into();
    lead.post("/policies", first).await.created();
    let with = |member: &str, value: Value| {
        let mut policy = policy("other");
        policy[member] = value;
        policy
    };
    let long = "a".repeat(65);
    for (wrong, field) in [
        (policy("spam"), "code"),
        (policy("Spam"), "code"),
        (policy("1"), "code"),
        (policy(&long), "code"),
        (with("key", json!(1)), "key"),
        (with("key", json!(0)), "key"),
        (with("key", json!(10)), "key"),
        (with("name", json!(" ")), "name"),
        (with("reason", json!("")), "reason"),
        (with("guideline", json!("a\u{0}")), "guideline"),
        (with("severity", json!("urgent")), "severity"),
        (with("categories", json!(["rudeness"])), "categories[0]"),
        (with("rules", json!(vec!["a"; 51])), "rules"),
    ] {
        lead.post("/policies", wrong)
            .await
            .blames("invalid_request", &[field]);
    }
    let other = lead.post("/policies", policy("other")).await.created();
    let path = format!("/policies/{}", other["id"].as_str().unwrap());
    for (change, field) in [
        (json!({ "code": "spam" }), "code"),
        (json!({ "key": 1 }), "key"),
    ] {
        lead.patch(&path, change)
            .await
            .blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_team_has_at_most_a_hundred_policies_and_none_of_another_team(pool: PgPool) {
    let app = App::start(pool).await;
    let lead = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    let theirs = stranger.post("/policies", policy("spam")).await.created();
    let path = format!("/policies/{}", theirs["id"].as_str().unwrap());
    for answer in [
        lead.get(&path).await,
        lead.patch(&path, json!({ "code": "mine" })).await,
        lead.delete(&path).await,
    ] {
        answer.problem(404, "not_found");
    }
    for number in 0..100 {
        lead.post("/policies", policy(&format!("p{number}")))
            .await
            .created();
    }
    lead.post("/policies", policy("more"))
        .await
        .problem(409, "limit_reached");
    let first = lead.get("/policies?limit=60").await.ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = lead
        .get(&format!("/policies?limit=60&cursor={cursor}"))
        .await
        .ok();
    assert_eq!(rest["data"].as_array().unwrap().len(), 40);
    let reader = app
        .caller(Some(app.tenant.team), &[Scope::ReviewsRead])
        .await;
    reader.get("/policies").await.ok();
    reader
        .post("/policies", policy("mine"))
        .await
        .problem(403, "missing_scope");
}

#[sqlx::test(migrations = false)]
async fn a_site_has_desk_settings_of_its_own(pool: PgPool) {
    let app = App::start(pool).await;
    let lead = app.member(app.tenant.team).await;
    let path = format!("/sites/{}/desk", app.tenant.site);
    let settings = lead.get(&path).await.ok();
    assert_answers("GET", "/sites/{site_id}/desk", &settings);
    assert_eq!(settings["undo_seconds"], 10);
    let change =
        json!({ "undo_seconds": 0, "high_minutes": 5, "audit_percent": 10, "golden_every": 20 });
    let changed = lead.patch(&path, change).await.ok();
    assert_answers("PATCH", "/sites/{site_id}/desk", &changed);
    assert_eq!(lead.get(&path).await.ok(), changed);
    assert_eq!(
        (&changed["high_minutes"], &changed["low_minutes"]),
        (&json!(5), &json!(2880))
    );
    for (wrong, field) in [
        (json!({ "undo_seconds": 61 }), "undo_seconds"),
        (json!({ "critical_minutes": 0 }), "critical_minutes"),
        (json!({ "golden_every": 4 }), "golden_every"),
        (json!({ "audit_percent": 101 }), "audit_percent"),
    ] {
        lead.patch(&path, wrong)
            .await
            .blames("invalid_request", &[field]);
    }
    let removed = lead
        .patch(&path, json!({ "golden_every": null }))
        .await
        .ok();
    assert_eq!(removed["golden_every"], json!(null));
    let log = lead.get("/audit-log?action=desk.update").await.ok();
    assert_eq!(
        log["data"][0]["details"],
        json!({ "changed": { "golden_every": { "from": 20, "to": null } } })
    );
    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    stranger.get(&path).await.problem(404, "not_found");
    stranger
        .patch(&path, json!({}))
        .await
        .problem(404, "not_found");
}
