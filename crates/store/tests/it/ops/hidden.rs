//! What the views must not show.

use sqlx::{PgPool, Row as _};

use super::{read_as_role, troubled};

/// Every column that the views show. Before you add one, ask what a tenant can write into it.
const COLUMNS: [&str; 6] = [
    "dead_jobs: queue, cause, error, dead, teams, last_died",
    "due_jobs: team, team_id, queue, due, running, oldest_due",
    "endpoint_troubles: team, team_id, site_id, endpoint_id, state, since, failures, reason",
    "quotas: team, team_id, plan, state, submissions, quota, used, deliveries, delivery_quota, delivery_used, period_start, period_end",
    "reviews: team, team_id, waiting, oldest",
    "submissions: team, team_id, this_hour, last_day",
];

#[sqlx::test(migrations = false)]
async fn the_views_show_these_columns_and_no_others(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let columns: Vec<String> = sqlx::query_scalar(
        "select format('%s: %s', table_name, string_agg(column_name, ', ' order by ordinal_position))
         from information_schema.columns where table_schema = 'ops' group by table_name order by table_name",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(columns, COLUMNS);
}

#[sqlx::test(migrations = false)]
async fn nothing_that_a_tenant_wrote_is_shown(pool: PgPool) {
    let word = "tenantword";
    let tenant = troubled(pool, word).await;
    let mut conn = tenant.pool.acquire().await.unwrap();
    let mut seen = 0;
    for columns in COLUMNS {
        let (view, _) = columns.split_once(':').unwrap();
        let rows = read_as_role(&mut conn, &format!("select v::text from ops.{view} v")).await;
        for row in rows.unwrap() {
            let text: String = row.get(0);
            assert!(!text.contains(word), "{view} shows {text}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "every view has rows");
}

#[sqlx::test(migrations = false)]
async fn errors_lose_what_may_come_from_a_tenant(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    for (error, shown) in [
        ("the provider answered 503", "the provider answered 503"),
        ("404, then 500.", "404, then 500."),
        ("it doesn't answer", "it doesn't answer"),
        (
            "posting to http://10.0.0.1/x?key=1 failed",
            "posting to … failed",
        ),
        ("ada@example.com is unknown", " … is unknown"),
        ("no such host: www.example.com", "no such host: … "),
        ("value \"a secret\" is not valid", "value … is not valid"),
        ("value \"a secret that does not end", "value … "),
        ("value 'a secret' is `another`", "value … is … "),
        ("card 4111111111111111 of item 01a2-b3", "card … of item … "),
        ("token aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "token … "),
    ] {
        let found: String = sqlx::query_scalar("select ops.without_values($1)")
            .bind(error)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(found, shown, "{error}");
    }
}
