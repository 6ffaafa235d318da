//! Usage and plan.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use crate::{
    browser::Stage,
    sites::{ESCAPED, HOSTILE},
};

#[sqlx::test(migrations = false)]
async fn the_page_tells_what_was_used_and_what_is_allowed(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let path = format!("/t/{}/usage", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let unlimited = viewer.get(&path).await;
    assert_eq!(unlimited.status, StatusCode::OK, "{}", unlimited.text);
    assert!(unlimited.text.contains("no limit"), "{}", unlimited.text);
    assert!(
        unlimited.text.contains("<dd>10,000</dd>"),
        "all keys together"
    );

    for change in [
        "update plans set submissions_per_period = 1000, deliveries_per_period = 4000, team_submissions_per_minute = 7777",
        "insert into usage (team_id, period_start, submissions, deliveries, quota, delivery_quota, granted, period_end)
         select team_id, billing_period(started_at, now()), 850, 4000, 1000, 4000, 0, billing_period(started_at, now(), 1)
         from subscriptions",
        "insert into usage (team_id, period_start, submissions, deliveries, quota, delivery_quota, granted, period_end)
         select team_id, now() - interval '90 days', 12345, 0, null, null, 0, now() - interval '60 days'
         from subscriptions",
    ] {
        sqlx::query(change).execute(&pool).await.unwrap();
    }
    sqlx::query("update plans set name = $1")
        .bind(HOSTILE)
        .execute(&pool)
        .await
        .unwrap();
    let shown = viewer.get(&path).await.text;
    assert!(shown.contains("<b>850</b> of 1,000 "), "{shown}");
    assert!(shown.contains("(85 %)"), "{shown}");
    assert!(shown.contains("class=\"bar warn\""), "{shown}");
    assert!(shown.contains("class=\"bar no\""), "{shown}");
    assert!(shown.contains("<dd>7,777</dd>"), "{shown}");
    assert!(
        shown.contains("<td class=\"num\" data-label=\"Submissions\">12,345</td>"),
        "{shown}"
    );
    assert!(shown.contains(ESCAPED), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
}

#[sqlx::test(migrations = false)]
async fn the_state_of_the_subscription_is_told(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let path = format!("/t/{}/usage", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    assert!(!viewer.get(&path).await.text.contains("role=\"status\""));
    for (change, told) in [
        (
            "state = 'past_due', past_due_since = now() - interval '1 day'",
            "Submissions are accepted until",
        ),
        (
            "past_due_since = now() - interval '8 days'",
            "submissions are refused. Items",
        ),
        (
            "state = 'cancelled', past_due_since = null",
            "Your subscription is cancelled",
        ),
        (
            "state = 'active', started_at = now() + interval '1 day'",
            "Your subscription begins",
        ),
    ] {
        let change = format!("update subscriptions set {change}");
        sqlx::query(sqlx::AssertSqlSafe(change))
            .execute(&pool)
            .await
            .unwrap();
        let shown = viewer.get(&path).await.text;
        assert!(shown.contains(told), "{told}: {shown}");
    }
    sqlx::query("delete from subscriptions")
        .execute(&pool)
        .await
        .unwrap();
    let shown = viewer.get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(shown.text.contains("Your team has no subscription"));
}
