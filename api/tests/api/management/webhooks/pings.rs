//! Tests of endpoints, as far as this interface has a part in them: who is asked for what, and how often.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use sqlx::PgPool;
use store::endpoint::Target;
use tokio::sync::{Notify, Semaphore};

use super::{endpoint, owner};
use crate::{
    app::{App, Options, answered},
    management::document::assert_answers,
};

#[sqlx::test(migrations = false)]
async fn case_45_a_test_goes_to_the_endpoint_and_its_outcome_comes_back(pool: PgPool) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let options = Options {
        ping: Arc::new(move |target: Target| {
            noted.lock().unwrap().push(target);
            let mut pinged = answered(500, "");
            pinged.response_body = Some(b"caf\xe9 \0".to_vec());
            Box::pin(async move { Some(pinged) })
        }),
        ..Options::default()
    };
    let app = App::with(pool, options).await;
    let (owner, endpoints) = owner(&app).await;
    let new = json!({
        "url": "https://example.com/hook",
        "headers": [{ "name": "a", "value": "hunter2" }],
    });
    let id = owner.post(&endpoints, new).await.created()["id"].clone();
    let path = format!("/webhook-endpoints/{}", id.as_str().unwrap());
    let disable = json!({ "reason": "Not yet." });
    owner.post(&format!("{path}/disable"), disable).await.ok();
    let entries = app.count("select count(*) from audit_log").await;

    let answer = owner.send("POST", &format!("{path}/ping"), "").await.ok();
    assert_answers("POST", "/webhook-endpoints/{endpoint_id}/ping", &answer);
    assert_eq!(
        answer,
        json!({
            "outcome": "status",
            "status_code": 500,
            "response_body": "caf\u{fffd} \0",
            "error": null,
            "duration_ms": 7,
        })
    );
    let target = asked.lock().unwrap().pop().unwrap();
    assert_eq!(json!(target.endpoint), id);
    assert_eq!(target.site, app.tenant.site);
    assert_eq!(target.url, "https://example.com/hook");
    assert_eq!(target.headers[0].expose(), "hunter2");
    assert_eq!(target.secrets.previous, None);
    // Nothing is known of it afterwards.
    for table in [
        "select count(*) from webhook_endpoint_states",
        "select count(*) from deliveries",
        "select count(*) from delivery_attempts",
    ] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
    // But who tested it, and how that ended.
    let audited = "select count(*) from audit_log";
    assert_eq!(app.count(audited).await, entries + 1);
    let log = owner.get("/audit-log?limit=1").await.ok();
    let entry = &log["data"][0];
    assert_eq!(entry["actor_id"], owner.id().await);
    assert_eq!(
        (&entry["action"], &entry["target_id"]),
        (&json!("endpoint.ping"), &id)
    );
    assert_eq!(
        entry["details"],
        json!({ "outcome": "status", "status_code": 500 })
    );
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_is_tested_six_times_a_minute(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, path) = endpoint(&owner, &endpoints).await;
    let (_, other) = endpoint(&owner, &endpoints).await;
    for _ in 0..6 {
        owner.send("POST", &format!("{path}/ping"), "").await.ok();
    }
    let answer = owner.send("POST", &format!("{path}/ping"), "").await;
    answer.problem(429, "too_many_pings");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((2..=60).contains(&wait), "{wait}");
    owner.send("POST", &format!("{other}/ping"), "").await.ok();
}

#[sqlx::test(migrations = false)]
async fn tests_that_hang_take_two_turns_of_their_team_and_hold_no_transaction(pool: PgPool) {
    let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (beginning, ending) = (Arc::clone(&begun), Arc::clone(&end));
    let options = Options {
        ping: Arc::new(move |_| {
            beginning.add_permits(1);
            let ending = Arc::clone(&ending);
            Box::pin(async move {
                ending.notified().await;
                Some(answered(204, ""))
            })
        }),
        ..Options::default()
    };
    let app = App::with(pool, options).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, path) = endpoint(&owner, &endpoints).await;
    let path = format!("{path}/ping");
    let ping = async || owner.send("POST", &path, "").await;
    let others = async {
        drop(begun.acquire_many(2).await.unwrap());
        ping().await.problem(429, "too_many_pings");
        let open = "select count(*) from pg_stat_activity
            where datname = current_database() and state like 'idle in transaction%'";
        // The queue's own are over soon; one of theirs would last until they end.
        let over = async {
            while app.count(open).await > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let over = tokio::time::timeout(Duration::from_mins(1), over).await;
        over.expect("they hold a transaction");
        end.notify_waiters();
    };
    let (first, second, ()) = tokio::join!(ping(), ping(), others);
    first.ok();
    second.ok();
    // Their turns are free again.
    let (answer, ()) = tokio::join!(ping(), async {
        drop(begun.acquire_many(3).await.unwrap());
        end.notify_waiters();
    });
    assert_eq!(answer.ok()["error"], Value::Null);
}
