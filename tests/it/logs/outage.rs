//! Postgres stops and starts again, or has no schema yet: the logs say so, each thing once.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::time::sleep;

use super::{Logs, message};
use crate::{
    server::Server,
    support::{Api, SOON, Worker, eventually, free_address, http, run, site_key},
};

/// Long enough for a second report, after 30 s.
const AWAY: Duration = Duration::from_secs(35);
/// After this time, no part of a process is still in trouble: an end is reported when nothing has
/// failed for ten seconds.
const SETTLED: Duration = Duration::from_secs(15);
const REFUSED_NONE: &str = "no request is answered with 503 any more";
/// A beginning, a second report and an end, of the outage and of the requests that were refused; a
/// lease that ended and began again; the election of a housekeeper; and room for one part of the
/// process that fails in a way of its own.
const MOST_LINES: usize = 12;

fn start_server() -> (Server, PgPool) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/with-postgres");
    let server = Server::start(script);
    let pool = PgPoolOptions::new().connect_lazy(&server.url).unwrap();
    (server, pool)
}

/// The fields of a line without its time, for messages of the test.
fn shown(lines: &[Value]) -> String {
    let lines = lines.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_postgres_is_a_few_lines_whatever_its_length() {
    let (server, pool) = start_server();
    let key = site_key(&pool);
    let logs = Logs::new();
    let api = Api::launch(logs.command(&pool, "api"), &["--outage-seconds", "1"]).await;
    let worker = Worker::launch(logs.command(&pool, "worker")).await;
    worker.leaves_jobs();
    let refused = AtomicU64::new(0);
    let submit = async || {
        let body = json!({ "api_key": key, "body": "a fine day" });
        let answer = api.post("submit-media", None, &body).await;
        let status = answer.map_or(0, |(status, _)| status);
        if status == 503 {
            refused.fetch_add(1, Ordering::Relaxed);
        }
        status
    };
    assert_eq!(submit().await, 200);
    // Started, and at rest.
    sleep(Duration::from_secs(5)).await;
    let processes = ["api", "worker"];
    let before = processes.map(|process| logs.lines(process).len());

    // At once: it tells every session, although it ends them anyway.
    server.crash();
    let until = Instant::now() + AWAY;
    while Instant::now() < until {
        assert_ne!(submit().await, 200);
        sleep(Duration::from_millis(250)).await;
    }
    server.start_again();
    eventually("submissions are stored again", SOON, async || {
        (submit().await == 200).then_some(())
    })
    .await;
    let is_told = |process: &str, text: &str| {
        let lines = logs.lines(process);
        lines.iter().any(|line| message(line).contains(text))
    };
    // A success ends it when nothing has failed for ten seconds.
    eventually("the end is told", SOON, async || {
        sleep(Duration::from_millis(250)).await;
        let is_stored = submit().await == 200;
        let is_back = |process| is_told(process, "the database is back");
        let is_over = processes.into_iter().all(is_back) && is_told("api", REFUSED_NONE);
        (is_stored && is_over).then_some(())
    })
    .await;
    sleep(SETTLED).await;

    for (process, before) in processes.into_iter().zip(before) {
        let lines = logs.lines(process).split_off(before);
        let told = shown(&lines);
        assert!(
            lines.len() <= MOST_LINES,
            "{process}: {} lines\n{told}",
            lines.len()
        );
        let with = |text: &str| {
            let lines = lines.iter().filter(|line| message(line).contains(text));
            lines.collect::<Vec<_>>()
        };
        let away = with("the database cannot be used");
        assert_eq!(away.len(), 2, "{process}\n{told}");
        assert!(away[0]["away_for_seconds"].is_null(), "{process}\n{told}");
        assert!(
            away[1]["failed_statements"].as_u64() > Some(MOST_LINES as u64),
            "{process}\n{told}"
        );
        let [back] = with("the database is back")[..] else {
            panic!("{process}\n{told}");
        };
        let lasted = back["away_for_seconds"].as_f64().unwrap();
        let least = AWAY.as_secs_f64() - 5.0;
        assert!((least..least + 30.0).contains(&lasted), "{process}\n{told}");
        assert!(!told.contains(" at line "), "{process}\n{told}");
    }
    // The requests that were refused meanwhile.
    let lines = logs.lines("api");
    let told = lines.iter().filter(|line| line["code"] == 503);
    assert_eq!(told.count(), 2, "{}", shown(&lines));
    let ended = lines
        .iter()
        .find(|line| message(line).contains(REFUSED_NONE));
    let refused = refused.into_inner();
    assert_eq!(ended.unwrap()["failures"], refused);
    assert!(refused > 2, "the two lines tell of all of them: {refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interface_that_waits_for_the_schema_says_so_once_and_asks_for_no_missing_table() {
    let (server, pool) = start_server();
    let logs = Logs::new();
    let [listen, metrics] = [free_address(), free_address()].map(|address| address.to_string());
    let mut command = logs.command(&pool, "api");
    command.args(["api", "--listen", &listen, "--metrics-listen", &metrics]);
    let mut command = tokio::process::Command::from(command);
    let _process = command.kill_on_drop(true).spawn().unwrap();
    let ready = format!("http://{listen}/readyz");
    let status = async || {
        let answer = http().get(&ready).send().await.ok()?;
        Some(answer.status().as_u16())
    };
    eventually("it is not ready", SOON, async || {
        status().await.filter(|status| *status == 503)
    })
    .await;
    // As long as 25 heartbeats that fail.
    sleep(Duration::from_secs(5)).await;
    let told = |lines: &[Value], text: &str| {
        let lines = lines.iter().filter(|line| message(line) == text);
        lines.count()
    };
    let lines = logs.lines("api");
    let warnings = lines.iter().filter(|line| line["level"] == "WARN");
    // And that the process runs as root, where it does.
    assert!(warnings.count() <= 2, "{}", shown(&lines));
    assert_eq!(told(&lines, "not ready"), 1, "{}", shown(&lines));
    let log = server.log();
    assert!(!log.contains("ERROR"), "{log}");

    run(&pool, &["migrate"]);
    eventually("it is ready", SOON, async || {
        status().await.filter(|status| *status == 200)
    })
    .await;
    let ready = eventually("that is logged", SOON, async || {
        let lines = logs.lines("api");
        lines.into_iter().find(|line| message(line) == "ready")
    })
    .await;
    assert!(ready["waited_seconds"].as_f64() > Some(4.0), "{ready}");
    let log = server.log();
    assert!(!log.contains("ERROR"), "{log}");
}
