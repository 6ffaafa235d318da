//! The views of the schema `ops`, and the dashboard of tenants, which reads them with the role
//! `gatehouse_ops`.

mod hidden;
mod role;

use std::path::Path;

use queue::QueueName;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _, postgres::PgRow};

use crate::tenant::Tenant;

const ANALYSIS: QueueName = QueueName::new("analysis");

/// Title and SQL of each panel.
fn panels() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboards/tenants.json");
    let text = std::fs::read_to_string(path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let panels = document["panels"].as_array().unwrap().iter();
    panels
        .filter(|panel| panel["type"] != "row")
        .map(|panel| {
            let part = |value: &Value| value.as_str().unwrap().to_owned();
            (part(&panel["title"]), part(&panel["targets"][0]["rawSql"]))
        })
        .collect()
}

/// The rows of a statement, read as Grafana reads them: with the role's rights and settings.
async fn read_as_role(conn: &mut PgConnection, sql: &str) -> Result<Vec<PgRow>, sqlx::Error> {
    let mut tx = conn.begin().await?;
    sqlx::raw_sql("set transaction read only; set local role gatehouse_ops")
        .execute(&mut *tx)
        .await?;
    let rows = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .fetch_all(&mut *tx)
        .await?;
    tx.rollback().await?;
    Ok(rows)
}

/// A team with something for every view: jobs that wait, run and died, submissions, a plan, an item
/// that waits for a person, and endpoints in each state. `word` is in everything that tenants write.
async fn troubled(pool: PgPool, word: &str) -> Tenant {
    let tenant = Tenant::new(pool).await;
    for _ in 0..3 {
        tenant.item().await;
    }
    let statements = "
        insert into queue.jobs (queue, lane, grp, payload, max_attempts, run_at)
        select $4, $1, $1, json_build_object('text', $3), 5, now() - interval '1 minute' from generate_series(1, 7);
        insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, cause, error, payload, grp)
        select n, $4, $1, 0, 5, 5, now(), 'exhausted',
               format('the provider answered 503 to https://%s.example/%s for \"%s\" of %s@example.com', $3, n, $3, $3),
               json_build_object('text', $3), $1
        from generate_series(1, 4) n;
        insert into statistics_hours
        select $1, date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        from generate_series(0, 30) h;
        insert into usage (team_id, period_start, submissions, granted)
        select team_id, billing_period(started_at, now()), 40, 1 from subscriptions where team_id = $1
        on conflict (team_id, period_start) do update set submissions = 40;
        insert into plans (id, name, submissions_per_period) values (gen_random_uuid(), 'hundred', 100);
        update subscriptions set plan_id = (select id from plans where name = 'hundred') where team_id = $1;
        insert into reviews (media_id, team_id, site_id, waiting_since)
        select id, team_id, site_id, now() - interval '2 days' from media;
        update media set body = $3, app_media_id = $3, author = $3, content_url = 'https://' || $3;
        update sites set name = $3, policy = $3;
        update rule_groups set name = $3;
        update site_keys set hint = right($3, 4);
        insert into webhook_endpoints (id, site_id, url, events, description, headers, disabled_at, disabled_reason)
        values (gen_random_uuid(), $2, 'https://user:' || $3 || '@example.com/' || $3, '{media.created}', $3, $3::bytea, null, null),
               (gen_random_uuid(), $2, 'https://' || $3 || '.example/', '{media.created}', $3, $3::bytea, null, null),
               (gen_random_uuid(), $2, 'https://' || $3 || '.example/', '{media.created}', $3, $3::bytea, now(), 'it answered 410'),
               (gen_random_uuid(), $2, 'https://' || $3 || '.example/', '{media.created}', $3, $3::bytea, null, null);
        insert into webhook_endpoint_states (endpoint_id, failing_since, failures, open_until)
        select id, now() - interval '1 hour', 9, case when row_number() over (order by id) = 1 then now() + interval '1 minute' end
        from (select id from webhook_endpoints where disabled_at is null order by id limit 2) e;
        insert into users (id, email, name, password_hash) values (gen_random_uuid(), $3 || '@example.com', $3, $3)";
    for statement in statements.split(';') {
        // Each takes the parameters that it names.
        let values = [
            format!("'{}'::uuid", tenant.team.as_uuid()),
            format!("'{}'::uuid", tenant.site.as_uuid()),
            format!("'{word}'::text"),
            format!("'{ANALYSIS}'"),
        ];
        let mut statement = statement.to_owned();
        for (number, value) in (1..).zip(values) {
            statement = statement.replace(&format!("${number}"), &value);
        }
        sqlx::query(AssertSqlSafe(statement))
            .execute(&tenant.pool)
            .await
            .unwrap();
    }
    tenant
}

#[sqlx::test(migrations = false)]
async fn every_panel_of_the_dashboard_has_rows(pool: PgPool) {
    let tenant = troubled(pool, "tenantword").await;
    let mut conn = tenant.pool.acquire().await.unwrap();
    let panels = panels();
    assert_eq!(panels.len(), 10);
    for (title, sql) in panels {
        let rows = read_as_role(&mut conn, &sql).await;
        let rows = rows.unwrap_or_else(|error| panic!("{title}: {error}"));
        assert!(!rows.is_empty(), "{title} is empty: {sql}");
    }
}

#[sqlx::test(migrations = false)]
async fn the_numbers_are_those_of_the_team(pool: PgPool) {
    let tenant = troubled(pool, "tenantword").await;
    let other = Tenant::another(&tenant.pool, "quiet").await;
    let mut conn = tenant.pool.acquire().await.unwrap();
    for (sql, expected) in [
        (
            "select format('%s %s %s %s', team, queue, due, running) from ops.due_jobs where queue = 'analysis'",
            vec!["team analysis 7 0"],
        ),
        (
            "select format('%s %s %s', team, this_hour, last_day) from ops.submissions",
            vec!["team 10 240"],
        ),
        (
            "select format('%s %s %s %s', team, submissions, quota, used) from ops.quotas where quota is not null",
            vec!["team 40 100 0.4"],
        ),
        (
            "select format('%s %s %s', team, waiting, oldest < now() - interval '47 hours') from ops.reviews",
            vec!["team 3 t"],
        ),
        (
            "select format('%s %s %s', state, failures, reason) from ops.endpoint_troubles order by 1",
            vec!["disabled 0 it answered 410", "failing 9 ", "open 9 "],
        ),
        (
            "select format('%s %s %s %s', cause, error, dead, teams) from ops.dead_jobs",
            vec!["exhausted the provider answered 503 to … for … of …  4 1"],
        ),
    ] {
        let rows = read_as_role(&mut conn, sql).await.unwrap();
        let found: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(found, expected, "{sql}");
    }
    let quiet = format!(
        "select 1 from ops.due_jobs where team_id = '{0}' union all select 1 from ops.reviews where team_id = '{0}'",
        other.team.as_uuid()
    );
    assert!(read_as_role(&mut conn, &quiet).await.unwrap().is_empty());
}
