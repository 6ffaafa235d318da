//! `gatehouse up --demo-data`, and removing what it made.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
};

use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgPool};

use crate::support::{DataDir, SOON, Up, admin, eventually, gatehouse, new_site, text};

const TEAM: &str = "01990000-0000-7000-8000-000000e8a1e5";

async fn number(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

fn url(pool: &PgPool) -> String {
    pool.connect_options().to_url_lossy().to_string()
}

/// How many rows each table of the service has.
async fn rows(pool: &PgPool) -> BTreeMap<String, i64> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    let mut rows = BTreeMap::new();
    for table in tables {
        let statement = AssertSqlSafe(format!("select count(*) from {table}"));
        let count = sqlx::query_scalar(statement).fetch_one(pool).await.unwrap();
        rows.insert(table, count);
    }
    rows
}

/// What the team's rows are found by in tables that others fill, too.
async fn rows_of_the_team(pool: &PgPool, sites: &[String]) -> Vec<(String, i64)> {
    let columns: Vec<(String, String)> = sqlx::query_as(
        "select c.table_name::text, c.column_name::text
         from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
         where
             c.table_schema = 'public' and c.column_name in ('team_id', 'site_id', 'subject_id')
             and t.table_type = 'BASE TABLE' and c.table_name <> 'audit_log'",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    assert!(columns.len() > 15, "{columns:?}");
    let mut ids = sites.to_vec();
    ids.push(TEAM.to_owned());
    let mut found = Vec::new();
    for (table, column) in columns {
        let statement = format!("select count(*) from {table} where {column} = any($1::uuid [])");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(statement))
            .bind(&ids)
            .fetch_one(pool)
            .await
            .unwrap();
        if count > 0 {
            found.push((table, count));
        }
    }
    found
}

/// The figures of the statistics of a team, a site or everything.
async fn figures(pool: &PgPool, subject: &str) -> (i64, i64, i64) {
    sqlx::query_as(
        "select
             coalesce(sum(accepted), 0)::bigint,
             coalesce(sum(rule_rejected + ai_rejected + manual_rejected + failure_rejected), 0)::bigint,
             coalesce(sum(delivered + failed_attempts), 0)::bigint
         from statistics_hours
         where subject_id = $1::uuid",
    )
    .bind(subject)
    .fetch_one(pool)
    .await
    .unwrap()
}

const EVERYTHING: &str = "00000000-0000-0000-0000-000000000000";

#[sqlx::test(migrations = false)]
async fn example_data_is_made_once_counted_and_removed_without_a_trace(pool: PgPool) {
    let (database, data) = (url(&pool), DataDir::new());
    let up = Up::start(&data, &["--database-url", &database]).await;
    drop(up);
    let before = rows(&pool).await;

    let options = ["--database-url", &database, "--demo-data"];
    let up = Up::start(&data, &options).await;
    assert_eq!(number(&pool, "select count(*) from media").await, 3_000);
    let share = async |status: &'static str| -> i64 {
        sqlx::query_scalar("select count(*) from media where status = $1")
            .bind(status)
            .fetch_one(&pool)
            .await
            .unwrap()
    };
    // What comes by chance depends on the time of the day.
    for (status, expected) in [
        ("approved", 2_610..=2_790),
        ("rejected", 190..=320),
        ("pending_review", 30..=140),
    ] {
        let found = share(status).await;
        assert!(expected.contains(&found), "{found} {status}");
    }
    let waiting = share("pending_review").await;
    assert_eq!(
        number(&pool, "select count(*) from reviews r join media m on m.id = r.media_id and m.status = 'pending_review'").await,
        waiting
    );
    for (statement, least) in [
        ("select count(*) from verdicts where moderation_type = 'manual'", 50),
        ("select count(*) from reviews where waiting_since < now() - interval '3 days'", 5),
        ("select count(*) from deliveries where state = 'delivered' and attempts > 1", 50),
        ("select count(*) from deliveries where state = 'exhausted'", 20),
        ("select count(*) from webhook_endpoint_states where failing_since < now() - interval '8 hours'", 1),
        ("select count(distinct v ->> 'rule_name') from verdicts, json_array_elements(details -> 'rule_violations') v", 7),
        ("select count(distinct author) from media", 100),
        // The wave.
        (
            "select max(n) from (
                 select count(*) as n from media where status = 'rejected' group by date_trunc('hour', created_at)
             ) hours",
            20,
        ),
    ] {
        let count = number(&pool, statement).await;
        assert!(count >= least, "{count}: {statement}");
    }
    // Everything lies in the past week, and everything has ended.
    for statement in [
        "select count(*) from media where created_at > now() or created_at < now() - interval '170 hours'",
        "select count(*) from verdicts where moderated_at > now()",
        "select count(*) from delivery_attempts where started_at > now()",
        "select count(*) from deliveries where state = 'pending' or ended_at is null or ended_at > now()",
        "select count(*) from events e join media m on m.id = e.media_id where e.occurred_at < m.created_at",
        "select count(*) from media m where (select max(number) from verdicts v where v.media_id = m.id) <> m.verdict",
        "select count(*) from queue.jobs where queue <> 'statistics'",
    ] {
        assert_eq!(number(&pool, statement).await, 0, "{statement}");
    }

    // The statistics count it like everything else, up to the last row. They pause for a minute.
    sqlx::query("update statistics_progress set ended_at = now() - interval '2 minutes'")
        .execute(&pool)
        .await
        .unwrap();
    let attempts = number(&pool, "select count(*) from delivery_attempts").await;
    let rejected = number(
        &pool,
        "select count(*) from verdicts where status = 'rejected'",
    )
    .await;
    eventually(
        "the statistics have counted the example",
        SOON,
        async || {
            let is_counted = figures(&pool, TEAM).await == (3_000, rejected, attempts)
                && number(&pool, "select count(*) from statistics_given_up").await == 0;
            is_counted.then_some(())
        },
    )
    .await;
    assert_eq!(figures(&pool, EVERYTHING).await, figures(&pool, TEAM).await);
    assert_eq!(
        number(&pool, "select sum(exhausted)::bigint from statistics_hours where subject_id = '00000000-0000-0000-0000-000000000000'").await,
        number(&pool, "select count(*) from deliveries where state = 'exhausted'").await
    );
    drop(up);

    let made = rows(&pool).await;
    let up = Up::start(&data, &options).await;
    let again = rows(&pool).await;
    for table in [
        "teams",
        "sites",
        "media",
        "verdicts",
        "events",
        "deliveries",
        "delivery_attempts",
        "users",
        "memberships",
    ] {
        assert_eq!(made[table], again[table], "{table}");
    }
    drop(up);
    assert!(
        fs::read_to_string(data.log())
            .unwrap()
            .contains("exists already")
    );

    let sites: Vec<String> =
        sqlx::query_scalar("select id::text from sites where team_id = $1::uuid")
            .bind(TEAM)
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(sites.len(), 2);
    use_the_team(&pool, &sites[0]).await;
    let found = rows_of_the_team(&pool, &sites).await;
    assert!(found.len() > 16, "{found:?}");
    let removed = admin(&pool, &["remove-example-data"]);
    assert_eq!(
        removed,
        json!({ "team_id": TEAM, "existed": true, "removed_items": 3_000 })
    );
    assert_eq!(rows_of_the_team(&pool, &sites).await, []);
    // The others have what they had, and what was counted of everything is as before.
    assert_eq!(figures(&pool, EVERYTHING).await, (0, 0, 0));
    let mut after = rows(&pool).await;
    for table in [
        "audit_chains",
        "audit_log",
        "statistics_hours",
        "item_workers",
        "providers",
    ] {
        after.insert(table.to_owned(), before[table]);
    }
    assert_eq!(after, before);

    let removed = admin(&pool, &["remove-example-data"]);
    assert_eq!(
        removed,
        json!({ "team_id": TEAM, "existed": false, "removed_items": 0 })
    );
}

/// Adds what people and workers would add to the team, as if a removal had been interrupted after its first steps.
async fn use_the_team(pool: &PgPool, site: &str) {
    admin(pool, &["create-key", "--site", site]);
    let token = ["--team", TEAM, "--name", "app", "--scopes", "all"];
    admin(pool, &[&["create-token"][..], &token].concat());
    let invited = [
        "--team",
        TEAM,
        "--email",
        "bo@example.com",
        "--role",
        "viewer",
    ];
    admin(pool, &[&["create-user"][..], &invited].concat());
    for statement in [
        "insert into hash_lists (id, team_id, name, description, kind, max_distance)
         values (gen_random_uuid(), $1, 'list', '', 'deny', 0)",
        "insert into hash_entries (list_id, id, sha256, note, revision)
         select l.id, gen_random_uuid(), sha256('x'), '', 1 from hash_lists l where l.team_id = $1",
        "insert into hash_scans (id, list_id, team_id, until) select gen_random_uuid(), id, $1, now() from hash_lists",
        "insert into backtests (id, team_id, rule_group_id, rules, until, item_limit, total)
         select gen_random_uuid(), $1, id, '[]', now(), 1, 1 from rule_groups where team_id = $1 limit 1",
        "insert into backtest_changes (backtest_id, media_id, old_status, new_status, decided, rule_ids)
         select id, gen_random_uuid(), 'approved', 'rejected', 'nobody', '{}' from backtests where team_id = $1",
        "insert into webhook_recoveries (id, endpoint_id, site_id, team_id, kind, since, until)
         select gen_random_uuid(), e.id, s.id, $1, 'failed', now() - interval '1 day', now()
         from webhook_endpoints e join sites s on s.id = e.site_id where s.team_id = $1",
        "insert into idempotency_keys (site_id, key, fingerprint, media_id)
         select id, 'k', '', gen_random_uuid() from sites where team_id = $1",
        "insert into cached_answers (team_id, slot, site_id, key, media_id, scores, created_at)
         select $1, 1, id, sha256('x'), gen_random_uuid(), '{}', now() from sites where team_id = $1 limit 1",
        "insert into answer_rings (team_id, slot) values ($1, 1)",
        "insert into shadow_counts (version_id, slot, live_status, shadow_status, unscored, items)
         select live_version_id, 1, 'approved', 'rejected', false, 1 from rule_groups where team_id = $1",
        "update rule_groups set shadow_version_id = live_version_id where team_id = $1",
        "delete from delivery_attempts where $1 is not null and number > 1",
        "delete from events e using media m where m.id = e.media_id and m.team_id = $1 and e.verdict is null",
    ] {
        sqlx::query(AssertSqlSafe(statement.replace("$1", &format!("'{TEAM}'::uuid"))))
            .execute(pool)
            .await
            .unwrap();
    }
}

/// What `up` says when it refuses to start.
fn refused(pool: &PgPool, data: &DataDir, options: &[&str]) -> String {
    let mut command: Command = gatehouse(pool);
    let output = command
        .args([
            "up",
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            "127.0.0.1:0",
            "--data-dir",
        ])
        .arg(data.path())
        .args(options)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_database_in_use_gets_no_example_unless_demo_is_given_too_and_other_teams_stay(
    pool: PgPool,
) {
    let site = new_site(&pool);
    let before = rows(&pool).await;
    let data = DataDir::new();
    let told = refused(&pool, &data, &["--demo-data"]);
    assert!(
        told.contains("has the team `team`") && told.contains("add --demo"),
        "{told}"
    );
    assert_eq!(number(&pool, "select count(*) from teams").await, 1);

    // Creating it was interrupted after its first step: the next start begins again.
    sqlx::query("insert into teams (id, name) values ($1::uuid, 'Example data (incomplete)')")
        .bind(TEAM)
        .execute(&pool)
        .await
        .unwrap();
    let database = url(&pool);
    let mut options = vec!["--database-url", &database, "--demo", "--demo-data"];
    let key = ["--no-console"];
    options.extend(key);
    let up = Up::start_with_files(&data, 1_024, &options).await;
    assert_eq!(number(&pool, "select count(*) from media").await, 3_000);
    drop(up);

    admin(&pool, &["remove-example-data"]);
    assert_eq!(
        number(&pool, "select count(*) from teams").await,
        2,
        "the team and the demo"
    );
    assert_eq!(rows(&pool).await["media"], before["media"]);
    assert_eq!(
        number(
            &pool,
            "select count(*) from site_keys where disabled_at is null"
        )
        .await,
        2
    );
    let key = admin(&pool, &["create-key", "--site", &site.id]);
    assert!(!text(&key, "site_key").is_empty());
}
