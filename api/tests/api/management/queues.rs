//! The queues, for operators.

mod dead_jobs;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::scope::Scope;
use queue::{Group, Lane, NewJob, NewJobs};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs::WEBHOOKS;
use uuid::Uuid;

use super::{Caller, document::assert_answers};
use crate::app::{App, Tenant};

impl App {
    /// Removes all jobs, which the test has looked at.
    async fn clear_jobs(&self) {
        for statement in ["delete from queue.jobs", "delete from queue.dead_jobs"] {
            sqlx::query(statement).execute(&self.pool).await.unwrap();
        }
    }

    async fn enqueue(&self, jobs: impl IntoIterator<Item = NewJob>) {
        let jobs: NewJobs = jobs.into_iter().collect();
        let mut conn = self.pool.acquire().await.unwrap();
        queue::enqueue(&mut conn, &jobs).await.unwrap();
    }

    /// Returns when this process is listed: its first heartbeat may take a moment.
    async fn until_listed(&self) {
        while self.count("select count(*) from queue.workers").await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn job(lane: Uuid) -> NewJob {
    NewJob::new(WEBHOOKS, Lane(lane), &json!({ "delivery": Uuid::now_v7() }))
}

async fn changes(caller: &Caller<'_>, action: &str) -> Vec<Value> {
    let log = caller.get(&format!("/audit-log?action={action}")).await;
    log.ok()["data"].as_array().unwrap().clone()
}

#[sqlx::test(migrations = false)]
async fn queues_are_listed_with_their_depth_their_holds_and_the_workers(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let lane = Uuid::now_v7();
    let later = job(lane).delay(Duration::from_hours(1));
    app.enqueue([job(lane), job(lane), job(Uuid::now_v7()), later])
        .await;
    let path = format!("/queues/webhooks/lanes/{lane}");
    operator.patch(&path, json!({ "paused": true })).await.ok();
    app.until_listed().await;

    let listed = operator.get("/queues").await.ok();
    assert_answers("GET", "/queues", &listed);
    let names: Vec<_> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| queue["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, store::jobs::ALL.map(queue::QueueName::as_str));
    let webhooks = &listed["data"][3];
    for (member, value) in [
        ("due", json!(3)),
        ("runnable", json!(1)),
        ("scheduled", json!(1)),
        ("running", json!(0)),
        ("dead", json!(0)),
        ("paused", json!(false)),
        ("paused_lanes", json!(1)),
        ("paused_groups", json!(0)),
        ("lane_cap", json!(32)),
    ] {
        assert_eq!(webhooks[member], value, "{member}");
    }
    assert!(webhooks["oldest_due_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(listed["data"][1]["lane_cap"], Value::Null);
    assert_eq!(listed["workers"].as_array().unwrap().len(), 1);
    assert_eq!(listed["workers_left_out"], 0);
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn the_busiest_groups_and_lanes_come_first_and_the_others_are_counted(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let busy = Group(Uuid::now_v7());
    let lanes = [1, 2, 3].map(Uuid::from_u128);
    app.enqueue(lanes.map(|lane| job(lane).group(busy))).await;
    app.enqueue([job(lanes[2]).group(busy)]).await;
    app.enqueue((4..8).map(Uuid::from_u128).map(job)).await;
    let capped = Uuid::from_u128(99);
    let path = format!("/queues/webhooks/groups/{capped}");
    let set = operator.patch(&path, json!({ "cap": 7 })).await.ok();
    assert_eq!((&set["cap"], &set["due"]), (&json!(7), &json!(0)));

    let first = operator.get("/queues/webhooks?limit=1").await.ok();
    assert_answers("GET", "/queues/{queue}", &first);
    assert_eq!(first["queue"]["due"], 8);
    assert_eq!(first["groups"][0]["group_id"], json!(busy.0));
    assert_eq!(first["groups"][0]["due"], 4);
    assert_eq!(first["groups_left_out"], 5);
    assert_eq!(first["lanes"][0]["lane_id"], json!(lanes[2]));
    assert_eq!(first["lanes"][0]["due"], 2);
    assert_eq!(first["lanes_left_out"], 6);
    let all = operator.get("/queues/webhooks").await.ok();
    assert_eq!(all["groups"].as_array().unwrap().len(), 6);
    assert_eq!(all["groups_left_out"], 0);
    assert_eq!(all["groups"][5]["group_id"], json!(capped));
    assert_eq!(operator.get(&path).await.ok(), set);
    let empty = operator.get("/queues/rules").await.ok();
    assert_eq!(
        (&empty["groups"], &empty["lanes"]),
        (&json!([]), &json!([]))
    );
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn a_pause_is_made_and_ended_once_and_recorded_with_before_and_after(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let paths = [
        "/queues/analysis".to_owned(),
        format!("/queues/analysis/groups/{}", app.tenant.team),
        format!("/queues/analysis/lanes/{}", app.tenant.team),
    ];
    for path in &paths {
        for _ in 0..2 {
            let paused = operator.patch(path, json!({ "paused": true })).await.ok();
            assert_eq!(paused["paused"], true, "{path}");
            assert_eq!(paused["paused_until"], Value::Null, "{path}");
        }
        for _ in 0..2 {
            let resumed = operator.patch(path, json!({ "paused": false })).await.ok();
            assert_eq!(resumed["paused"], false, "{path}");
        }
        assert_eq!(operator.patch(path, json!({})).await.ok()["paused"], false);
    }
    let log = changes(&operator, "queue.update").await;
    assert_eq!(log.len(), 6, "{log:?}");
    let actor = operator.id().await;
    for (place, entry) in log.iter().enumerate() {
        // The latest first: the end of a pause, then its beginning.
        let ends = place % 2 == 0;
        let details = &entry["details"];
        assert_eq!(details["queue"], "analysis");
        let change = json!({ "paused": { "from": ends, "to": !ends } });
        assert_eq!(details["changed"], change);
        assert_eq!(
            (&entry["actor"], &entry["actor_id"]),
            (&json!("token"), &json!(actor))
        );
        assert!(entry["request_id"].is_string());
    }
    let team = json!(app.tenant.team);
    for (entry, member) in [(&log[0], "lane_id"), (&log[2], "group_id")] {
        assert_eq!((&entry["team_id"], &entry["target_id"]), (&team, &team));
        assert_eq!(entry["details"][member], team);
    }
    assert_eq!(
        (&log[4]["team_id"], &log[4]["target_id"]),
        (&Value::Null, &Value::Null)
    );
    // What is done to a team is its business, and what is done to all teams is not.
    let member = app.member(app.tenant.team).await;
    assert_eq!(changes(&member, "queue.update").await, log[..4]);
    let other = Tenant::create(&app.pool, "other").await;
    let other = app.member(other.team).await;
    assert_eq!(changes(&other, "queue.update").await, [Value::Null; 0]);
}

#[sqlx::test(migrations = false)]
async fn the_pause_of_an_endpoint_is_its_teams_business(pool: PgPool) {
    let app = App::start(pool).await;
    let (operator, member) = (app.operator().await, app.member(app.tenant.team).await);
    let endpoint = app.endpoint().await;
    let path = format!("/queues/webhooks/lanes/{endpoint}");
    let change = json!({ "paused": true, "cap": 3 });
    let paused = operator.patch(&path, change).await.ok();
    assert_answers("PATCH", "/queues/{queue}/lanes/{lane_id}", &paused);
    let log = changes(&member, "queue.update").await;
    assert_eq!(log[0]["target_id"], json!(endpoint));
    assert_eq!(
        log[0]["details"]["changed"],
        json!({ "paused": { "from": false, "to": true }, "cap": { "from": null, "to": 3 } })
    );
}

#[sqlx::test(migrations = false)]
async fn the_end_of_a_pause_is_in_the_future_and_never_earlier_than_before(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let lane = format!("/queues/webhooks/lanes/{}", Uuid::now_v7());
    let group = format!("/queues/webhooks/groups/{}", Uuid::now_v7());
    let time = |minutes| -> DateTime<Utc> { Utc::now() + TimeDelta::minutes(minutes) };
    let (soon, later) = (time(10), time(20));
    for path in ["/queues/webhooks", &lane, &group] {
        let until = |end: DateTime<Utc>| json!({ "paused": true, "paused_until": end });
        let ends = |answer: &Value| -> DateTime<Utc> {
            answer["paused_until"].as_str().unwrap().parse().unwrap()
        };
        for (asked, expected) in [(soon, soon), (soon, soon), (later, later), (soon, later)] {
            let paused = operator.patch(path, until(asked)).await.ok();
            let difference = (ends(&paused) - expected).num_microseconds();
            assert_eq!(difference, Some(0), "{path}");
        }
        for wrong in [
            until(time(-1)),
            json!({ "paused": false, "paused_until": later }),
            json!({ "paused_until": later }),
            json!({ "paused_until": null }),
        ] {
            let answer = operator.patch(path, wrong).await;
            answer.blames("invalid_request", &["paused_until"]);
        }
        let for_ever = operator.patch(path, json!({ "paused": true })).await.ok();
        assert_eq!(
            (&for_ever["paused"], &for_ever["paused_until"]),
            (&json!(true), &Value::Null)
        );
        operator.patch(path, json!({ "paused": false })).await.ok();
    }
    // Of each: two ends, for ever, and resumed.
    assert_eq!(changes(&operator, "queue.update").await.len(), 12);
}

#[sqlx::test(migrations = false)]
async fn a_cap_is_of_a_group_or_a_lane_and_null_restores_the_default(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let id = Uuid::now_v7();
    for path in [
        format!("/queues/rules/groups/{id}"),
        format!("/queues/rules/lanes/{id}"),
    ] {
        for cap in [json!(1), json!(2_147_483_647_i64), Value::Null, Value::Null] {
            let set = operator.patch(&path, json!({ "cap": cap })).await.ok();
            assert_eq!((&set["cap"], &set["paused"]), (&cap, &json!(false)));
            assert_eq!(operator.get(&path).await.ok(), set);
        }
        for cap in [json!(0), json!(-1), json!(2_147_483_648_i64), json!("1")] {
            let answer = operator.patch(&path, json!({ "cap": cap })).await;
            answer.blames("invalid_request", &["cap"]);
        }
    }
    let whole = operator.patch("/queues/rules", json!({ "cap": 1 })).await;
    whole.blames("invalid_request", &["cap"]);
    assert_eq!(changes(&operator, "queue.update").await.len(), 6);
}

#[sqlx::test(migrations = false)]
async fn a_queue_that_is_none_is_not_found(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let id = Uuid::now_v7();
    for name in ["mails", "ANALYSIS", "analysis%00", "a'b", &"x".repeat(64)] {
        for path in [
            format!("/queues/{name}"),
            format!("/queues/{name}/groups/{id}"),
            format!("/queues/{name}/lanes/{id}"),
        ] {
            operator.get(&path).await.problem(404, "not_found");
            let answer = operator.patch(&path, json!({ "paused": true })).await;
            answer.problem(404, "not_found");
        }
    }
    // A queue of another version is listed and read, and it cannot be changed.
    let old = queue::QueueName::new("of-another-version");
    app.enqueue([NewJob::new(old, Lane(id), &json!({}))]).await;
    let read = operator.get("/queues/of-another-version").await.ok();
    assert_eq!(read["queue"]["due"], 1);
    let answer = operator
        .patch("/queues/of-another-version", json!({ "paused": true }))
        .await;
    answer.problem(404, "not_found");
    let exceptions =
        "select (select count(*) from queue.queues) + (select count(*) from queue.lanes)";
    assert_eq!(app.count(exceptions).await, 0);
    app.clear_jobs().await;
}

#[sqlx::test(migrations = false)]
async fn who_may_only_read_changes_nothing_and_teams_do_neither(pool: PgPool) {
    let app = App::start(pool).await;
    let reader = app.caller(None, &[Scope::QueuesRead]).await;
    let writer = app.caller(None, &[Scope::QueuesWrite]).await;
    let member = app.member(app.tenant.team).await;
    let own = format!("/queues/analysis/groups/{}", app.tenant.team);
    for path in ["/queues/analysis", &own] {
        reader.get(path).await.ok();
        let change = json!({ "paused": true });
        let refused = reader.patch(path, change.clone()).await;
        refused.problem(403, "missing_scope");
        writer.get(path).await.problem(403, "missing_scope");
        member.get(path).await.problem(403, "operators_only");
        // Nor are they told what is wrong with the request, or which queues there are.
        for change in [change, json!({ "paused_until": null })] {
            let refused = member.patch(path, change).await;
            refused.problem(403, "operators_only");
        }
    }
    let unknown = member.get("/queues/mails").await;
    unknown.problem(403, "operators_only");
    let replay = json!({ "queue": "analysis" });
    let refused = reader.post("/dead-jobs/replay", replay).await;
    refused.problem(403, "missing_scope");
    assert_eq!(app.count("select count(*) from audit_log").await, 0);
    let exceptions =
        "select (select count(*) from queue.queues) + (select count(*) from queue.groups)";
    assert_eq!(app.count(exceptions).await, 0);
}

/// Tokens that were created before there were these scopes keep theirs, and get no others.
#[sqlx::test(migrations = false)]
async fn a_token_of_before_has_the_scopes_that_it_was_given(pool: PgPool) {
    let app = App::start(pool).await;
    let added = [Scope::QueuesRead, Scope::QueuesWrite];
    let before = Scope::ALL.iter().copied();
    let before: Vec<Scope> = before.filter(|scope| !added.contains(scope)).collect();
    let old = app.caller(None, &before).await;
    old.get("/teams").await.ok();
    old.get("/queues").await.problem(403, "missing_scope");
    let new = json!({ "name": "new", "scopes": ["queues:read"] });
    old.post("/tokens", new.clone())
        .await
        .problem(403, "missing_scope");
    app.operator().await.post("/tokens", new).await;
    let stored = "select count(*) from management_tokens where 'queues:read' = any (scopes)";
    assert_eq!(app.count(stored).await, 2);
}
