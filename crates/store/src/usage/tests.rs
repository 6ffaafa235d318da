//! Past billing periods are removed when they are old enough, and never the current one.

use super::*;
use crate::{plan, schema, team};

const DAYS_400: Duration = Duration::from_hours(400 * 24);

#[sqlx::test(migrations = false)]
async fn old_periods_are_removed_and_the_current_one_never(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut tx = pool.begin().await.unwrap();
    let team = team::create(&mut tx, &"a".parse().unwrap(), plan::UNLIMITED)
        .await
        .unwrap()
        .id;
    tx.commit().await.unwrap();
    for statement in [
        // Of a team with a subscription, 30 periods; of one without, a young and an old one.
        "update subscriptions set started_at = now() - interval '900 days'",
        "insert into usage (team_id, period_start, submissions, granted)
         select s.team_id, billing_period(s.started_at, now(), -n), 1, 1
         from subscriptions s, generate_series(0, 29) n
         union all
         select gen_random_uuid(), now() - days * interval '1 day', 1, 1 from (values (399), (500)) o(days)",
        // It ended young, because the beginning of the subscription was changed.
        "insert into usage (team_id, period_start, submissions, granted, period_end)
         select team_id, now() - interval '800 days', 1, 1, now() - interval '399 days' from subscriptions",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    let forgotten = forget_old(&pool, DAYS_400).await.unwrap();
    assert_eq!(forget_old(&pool, DAYS_400).await.unwrap(), 0);
    let mut conn = pool.acquire().await.unwrap();
    let left = periods(&mut conn, team, 100).await.unwrap();
    // All but the team's and the young one of the other team.
    assert_eq!(forgotten, 33 - left.len() as u64 - 1);
    // 400 days are 13 months and a few days, and there is the current one.
    assert!((14..=16).contains(&left.len()), "{left:?}");
    let oldest = left.iter().map(|period| period.end).min().unwrap();
    assert!(oldest > Utc::now() - DAYS_400, "{oldest}");

    // Even if every age is old enough.
    forget_old(&pool, Duration::ZERO).await.unwrap();
    let left = periods(&mut conn, team, 100).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].submissions, 1);
}
