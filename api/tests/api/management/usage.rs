//! Usage.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn usage_is_told_by_billing_period_with_the_quota_of_each(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let path = format!("/teams/{}/usage", app.tenant.team);
    let fresh = operator.get(&path).await.ok();
    let periods = fresh["periods"].as_array().unwrap();
    assert_eq!(
        periods.len(),
        1,
        "the current one, although nothing was submitted in it"
    );
    assert_eq!(
        (&periods[0]["submissions"], &periods[0]["quota"]),
        (&json!(0), &Value::Null)
    );

    let plan = json!({ "name": "a", "submissions_per_period": 10 });
    let plan = operator.post("/plans", plan).await.created();
    let put =
        json!({ "plan_id": plan["id"], "state": "active", "started_at": "2020-01-31T00:00:00Z" });
    let subscription = format!("/teams/{}/subscription", app.tenant.team);
    operator.put(&subscription, put).await.ok();
    sqlx::raw_sql(
        "
        insert into usage (team_id, period_start, submissions, quota, granted)
        select team_id, billing_period(started_at, now()), 4, 5, 0 from subscriptions
        union all
        select team_id, '2020-02-29T00:00:00Z', 7, 8, 0 from subscriptions
        ",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    let member = app.member(app.tenant.team).await;
    let usage = member.get(&path).await.ok();
    assert_eq!(usage["team_id"], json!(app.tenant.team));
    let periods = usage["periods"].as_array().unwrap();
    assert_eq!(periods.len(), 2);
    assert_eq!(
        (&periods[0]["submissions"], &periods[0]["quota"]),
        (&json!(4), &json!(10))
    );
    assert_eq!(
        periods[1],
        json!({
            "start": "2020-02-29T00:00:00.000000Z",
            "end": "2020-03-31T00:00:00.000000Z",
            "submissions": 7,
            "quota": 8,
            "deliveries": 0,
            "delivery_quota": null,
        })
    );
}
