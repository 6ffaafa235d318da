//! Subscriptions.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::plan::UNLIMITED;

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn a_subscription_becomes_what_was_put(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let path = format!("/teams/{}/subscription", app.tenant.team);
    let plan = operator
        .post("/plans", json!({ "name": "a" }))
        .await
        .created();
    let before = operator.get(&path).await.ok();
    let put = json!({ "plan_id": plan["id"], "state": "cancelled", "started_at": "2026-01-31T13:00:00+01:00" });
    let after = operator.put(&path, put).await.ok();
    assert_eq!(
        after,
        json!({
            "team_id": app.tenant.team,
            "plan_id": plan["id"],
            "state": "cancelled",
            "started_at": "2026-01-31T12:00:00.000000Z",
            "past_due_since": null,
        })
    );
    // The start stays where it is unless another is given.
    let put = json!({ "plan_id": UNLIMITED, "state": "active" });
    let again = operator.put(&path, put).await.ok();
    assert_eq!(again["started_at"], after["started_at"]);
    assert_eq!(again["plan_id"], before["plan_id"]);
    let member = app.member(app.tenant.team).await;
    assert_eq!(member.get(&path).await.ok(), again);
}

#[sqlx::test(migrations = false)]
async fn what_stays_past_due_is_so_since_the_same_time(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let path = format!("/teams/{}/subscription", app.tenant.team);
    let put = async |state: &str| {
        let put = json!({ "plan_id": UNLIMITED, "state": state });
        operator.put(&path, put).await.ok()["past_due_since"].clone()
    };
    let since = put("past_due").await;
    assert!(since.is_string());
    assert_eq!(put("past_due").await, since);
    assert_eq!(app.count("select count(*) from audit_log").await, 1);
    assert_eq!(put("active").await, Value::Null);
    let later = put("past_due").await;
    assert!(later.as_str() > since.as_str());
    assert_eq!(put("cancelled").await, Value::Null);
}

#[sqlx::test(migrations = false)]
async fn a_subscription_that_cannot_be_is_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let path = format!("/teams/{}/subscription", app.tenant.team);
    let before = operator.get(&path).await.ok();
    for (put, field) in [
        (json!({ "state": "active" }), "plan_id"),
        (json!({ "plan_id": UNLIMITED }), "state"),
        (json!({ "plan_id": UNLIMITED, "state": "paused" }), "state"),
        (
            json!({ "plan_id": uuid::Uuid::now_v7(), "state": "active" }),
            "plan_id",
        ),
        (
            json!({ "plan_id": UNLIMITED, "state": "active", "started_at": "today" }),
            "started_at",
        ),
        (
            json!({ "plan_id": UNLIMITED, "state": "active", "past_due_since": null }),
            "past_due_since",
        ),
    ] {
        operator
            .put(&path, put)
            .await
            .blames("invalid_request", &[field]);
    }
    assert_eq!(operator.get(&path).await.ok(), before);
    let nobody = format!("/teams/{}/subscription", uuid::Uuid::now_v7());
    let put = json!({ "plan_id": UNLIMITED, "state": "active" });
    operator.put(&nobody, put).await.problem(404, "not_found");
}
