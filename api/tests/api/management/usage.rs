//! Usage.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::plan::UNLIMITED;

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

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn billing_periods_do_not_overlap_after_their_beginning_was_changed(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let subscription = format!("/teams/{}/subscription", app.tenant.team);
    let now = Utc::now();
    let start = async |days: i64| {
        let started_at = (now - TimeDelta::days(days)).to_rfc3339();
        let put = json!({ "plan_id": UNLIMITED, "state": "active", "started_at": started_at });
        operator.put(&subscription, put).await.ok();
        app.submit(json!({ "body": "a text" })).await.ok();
    };
    let check = async |submissions: &[i64]| {
        let usage = operator
            .get(&format!("/teams/{}/usage", app.tenant.team))
            .await
            .ok();
        let periods = usage["periods"].as_array().unwrap();
        let told: Vec<_> = periods
            .iter()
            .map(|period| period["submissions"].as_i64().unwrap())
            .collect();
        assert_eq!(told, submissions, "{usage:#}");
        for period in periods {
            assert!(time(&period["start"]) < time(&period["end"]), "{usage:#}");
        }
        for pair in periods.windows(2) {
            assert!(
                time(&pair[1]["end"]) <= time(&pair[0]["start"]),
                "{usage:#}"
            );
        }
        assert!(time(&periods[0]["end"]) > Utc::now(), "{usage:#}");
    };
    // The current period begins two days ago, then about ten, then five.
    start(2).await;
    check(&[1]).await;
    start(40).await;
    check(&[1, 1]).await;
    start(5).await;
    check(&[1, 1, 1]).await;
    // Periods that were begun before go on.
    start(2).await;
    check(&[2, 1, 1]).await;
    start(40).await;
    check(&[2, 2, 1]).await;
}

#[sqlx::test(migrations = false)]
async fn a_past_billing_period_ends_where_it_ended(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let subscription = format!("/teams/{}/subscription", app.tenant.team);
    let start = async |started_at: &str| {
        let put = json!({ "plan_id": UNLIMITED, "state": "active", "started_at": started_at });
        operator.put(&subscription, put).await.ok();
    };
    start("2020-01-31T00:00:00Z").await;
    sqlx::raw_sql(
        "
        insert into usage (team_id, period_start, submissions, granted)
        select team_id, '2020-02-29T00:00:00Z', 7, 0 from subscriptions
        ",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    start("2020-01-10T00:00:00Z").await;
    let usage = operator
        .get(&format!("/teams/{}/usage", app.tenant.team))
        .await
        .ok();
    assert_eq!(usage["periods"][1]["end"], "2020-03-31T00:00:00.000000Z");
}
