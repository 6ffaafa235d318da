//! Dead jobs, for operators.

use std::sync::LazyLock;

use chrono::{DateTime, SecondsFormat, SubsecRound as _, TimeDelta, Utc};
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{assert_answers, changes};
use crate::app::App;

/// The time from which jobs are dead: recent, because old dead jobs are deleted.
fn beginning() -> DateTime<Utc> {
    static BEGINNING: LazyLock<DateTime<Utc>> =
        LazyLock::new(|| (Utc::now() - TimeDelta::hours(1)).trunc_subsecs(0));
    *BEGINNING
}

/// The time at which job `number` died, as answers show it.
fn died_at(number: i64) -> String {
    let time = beginning() + TimeDelta::seconds(number);
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// A payload of no use case: what it carries is nobody's business.
const SECRET: &str = "whsec_of_nobody";

impl App {
    /// Buries jobs `from..=to` of a queue, the first of them longest ago, a second apart.
    async fn bury(&self, queue: &str, lane: Uuid, numbers: (i64, i64), error: &str) {
        sqlx::query(
            "insert into queue.dead_jobs
                    (id, queue, grp, lane, priority, attempt, max_attempts, created_at, died_at, cause, error, payload)
             select i, $1, $2, $2, 0, 5, 5, now() - interval '1 day',
                    $7 + i * interval '1 s', 'exhausted', $5,
                    json_build_object('media', lpad(i::text, 32, '0')::uuid, 'secret', $6::text)
               from generate_series($3, $4) i",
        )
        .bind(queue)
        .bind(lane)
        .bind(numbers.0)
        .bind(numbers.1)
        .bind(error)
        .bind(SECRET)
        .bind(beginning())
        .execute(&self.pool)
        .await
        .unwrap();
    }
}

fn ids(page: &Value) -> Vec<i64> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|job| job["id"].as_i64().unwrap()).collect()
}

#[sqlx::test(migrations = false)]
async fn dead_jobs_are_listed_by_pages_the_latest_first_and_without_what_they_carry(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let team = app.tenant.team.as_uuid();
    app.bury("analysis", team, (1, 4), "answered 503").await;
    app.bury("rules", Uuid::from_u128(9), (5, 7), "too slow")
        .await;
    // Buried together.
    sqlx::query("update queue.dead_jobs set died_at = $1 where id < 5")
        .bind(beginning())
        .execute(&app.pool)
        .await
        .unwrap();
    let (mut seen, mut path) = (Vec::new(), "/dead-jobs?limit=2".to_owned());
    loop {
        let answer = operator.get(&path).await;
        assert!(!answer.body.contains(SECRET) && !answer.body.contains("payload"));
        let page = answer.ok();
        assert_answers("GET", "/dead-jobs", &page);
        seen.extend(ids(&page));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        // What dies meanwhile moves nothing.
        let another = 100 + i64::try_from(seen.len()).unwrap();
        app.bury("analysis", team, (another, another), "later")
            .await;
        path = format!("/dead-jobs?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);

    let jobs = operator.get("/dead-jobs?queue=rules&limit=1").await.ok();
    let latest = &jobs["data"][0];
    assert_eq!(latest["subject_id"], json!(Uuid::from_u128(7)));
    assert_eq!(latest["error"], "too slow");
    assert_eq!(
        (&latest["attempts"], &latest["cause"]),
        (&json!(5), &json!("exhausted"))
    );
    for (query, expected) in [
        (format!("team_id={team}&error=503"), &[4, 3, 2, 1][..]),
        (format!("lane_id={}", Uuid::from_u128(9)), &[7, 6, 5]),
        ("cause=aborted".to_owned(), &[]),
        (format!("queue=rules&since={}", died_at(6)), &[7, 6]),
        (format!("queue=rules&until={}", died_at(6)), &[5]),
        ("queue=nothing".to_owned(), &[]),
    ] {
        let found = operator.get(&format!("/dead-jobs?{query}")).await.ok();
        assert_eq!(ids(&found), expected, "{query}");
    }
    for (query, field) in [
        ("cause=old_age", "cause"),
        ("queue=A", "queue"),
        ("error=", "error"),
        ("error=%00", "error"),
        ("team_id=x", "team_id"),
        ("since=yesterday", "since"),
        ("cursor=x", "cursor"),
    ] {
        let answer = operator.get(&format!("/dead-jobs?{query}")).await;
        answer.blames("invalid_request", &[field]);
    }
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn dead_jobs_are_counted_by_cause_the_largest_group_first(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    app.bury("rules", Uuid::from_u128(1), (1, 2), "too slow")
        .await;
    app.bury("analysis", Uuid::from_u128(2), (3, 5), "answered 503")
        .await;
    app.bury("analysis", Uuid::from_u128(3), (6, 7), "answered 503")
        .await;
    let summary = operator.get("/dead-jobs/summary?limit=1").await.ok();
    assert_answers("GET", "/dead-jobs/summary", &summary);
    assert_eq!(
        (&summary["matching"], &summary["left_out"]),
        (&json!(7), &json!(2))
    );
    let largest = json!([{
        "queue": "analysis",
        "cause": "exhausted",
        "error": "answered 503",
        "jobs": 5,
        "lanes": 2,
        "first_died_at": died_at(3),
        "last_died_at": died_at(7),
    }]);
    assert_eq!(summary["data"], largest);
    let of_rules = operator.get("/dead-jobs/summary?queue=rules").await.ok();
    assert_eq!(
        (&of_rules["matching"], &of_rules["left_out"]),
        (&json!(2), &json!(0))
    );
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn a_replay_goes_on_where_it_was_and_counts_each_job_once(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let team = app.tenant.team.as_uuid();
    app.bury("analysis", team, (1, 5), "answered 503").await;
    app.bury("analysis", team, (6, 7), "answered 400").await;
    let mut body = json!({ "queue": "analysis", "error": "503", "limit": 2 });
    let mut replayed = Vec::new();
    loop {
        let step = operator.post("/dead-jobs/replay", body.clone()).await.ok();
        assert_answers("POST", "/dead-jobs/replay", &step);
        replayed.push(step["replayed"].as_i64().unwrap());
        if step["next_cursor"].is_null() {
            break;
        }
        body["cursor"] = step["next_cursor"].clone();
        // A job that dies again after the beginning is not replayed again.
        sqlx::query(
            "insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, cause, error, payload)
             values ($1, 'analysis', $2, 0, 5, 5, now(), 'exhausted', 'answered 503', '{}')",
        )
        .bind(1_000 + i64::try_from(replayed.len()).unwrap())
        .bind(team)
        .execute(&app.pool)
        .await
        .unwrap();
    }
    assert_eq!(replayed, [2, 2, 1, 0]);
    assert_eq!(app.count("select count(*) from queue.jobs").await, 5);
    let waiting =
        "select count(*) from queue.jobs where state = 0 and attempt = 0 and queue = 'analysis'";
    assert_eq!(app.count(waiting).await, 5);
    assert_eq!(app.count("select count(*) from queue.dead_jobs").await, 5);

    // Each step that did something is recorded.
    let log = changes(&operator, "dead_jobs.replay").await;
    let counts: Vec<_> = log
        .iter()
        .map(|entry| &entry["details"]["replayed"])
        .collect();
    assert_eq!(counts, [1, 2, 2]);
    let filter = &log[2]["details"]["filter"];
    assert_eq!(
        (&filter["queue"], &filter["error"]),
        (&json!("analysis"), &json!("503"))
    );
    assert_eq!(log[2]["details"]["queues"], json!(["analysis"]));
    assert_eq!(log[2]["team_id"], Value::Null);
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn a_replay_by_id_or_team_takes_these_and_no_others_and_only_once(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let team = app.tenant.team.as_uuid();
    app.bury("analysis", team, (1, 3), "answered 503").await;
    app.bury("rules", Uuid::from_u128(9), (4, 9), "too slow")
        .await;
    let by_id = json!({ "ids": [2, 5, 77] });
    for expected in [2, 0] {
        let step = operator.post("/dead-jobs/replay", by_id.clone()).await.ok();
        assert_eq!(step, json!({ "replayed": expected, "next_cursor": null }));
    }
    let of_team = json!({ "team_id": team });
    let step = operator.post("/dead-jobs/replay", of_team).await.ok();
    assert_eq!(step["replayed"], 2);
    let log = changes(&operator, "dead_jobs.replay").await;
    assert_eq!(log[0]["team_id"], json!(team));
    assert_eq!(log[1]["details"]["filter"]["ids"], json!([2, 5, 77]));
    assert_eq!(
        changes(&app.member(app.tenant.team).await, "dead_jobs.replay").await,
        log[..1]
    );
    let between = json!({ "since": died_at(6), "until": died_at(8) });
    let step = operator.post("/dead-jobs/replay", between).await.ok();
    assert_eq!(step["replayed"], 2);
    assert_eq!(ids(&operator.get("/dead-jobs").await.ok()), [9, 8, 4]);
    let everything = json!({ "all": true });
    let step = operator.post("/dead-jobs/replay", everything).await.ok();
    assert_eq!(step["replayed"], 3);
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn a_replay_of_nothing_in_particular_is_refused(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    app.bury("rules", Uuid::from_u128(9), (1, 2), "too slow")
        .await;
    let many: Vec<i64> = (1..=1_001).collect();
    for (body, field) in [
        (json!({}), "all"),
        (json!({ "all": false }), "all"),
        (json!({ "limit": 1 }), "all"),
        (json!({ "queue": "rules", "all": true }), "all"),
        (json!({ "ids": [] }), "ids"),
        (json!({ "ids": many }), "ids"),
        (json!({ "ids": [0] }), "ids[0]"),
        (json!({ "queue": "rules", "limit": 0 }), "limit"),
        (json!({ "queue": "rules", "limit": 1_001 }), "limit"),
        (json!({ "queue": "rules", "cursor": "AAAA" }), "cursor"),
        (json!({ "queue": "rules", "cause": "x" }), "cause"),
        (json!({ "discard": true }), "discard"),
    ] {
        let answer = operator.post("/dead-jobs/replay", body).await;
        answer.blames("invalid_request", &[field]);
    }
    assert_eq!(app.count("select count(*) from queue.dead_jobs").await, 2);
    assert_eq!(app.count("select count(*) from audit_log").await, 0);
    app.clear_jobs().await;
}
