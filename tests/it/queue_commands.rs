//! `gatehouse queue`, run as operators run it, beside real workers.

use std::{
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use queue::{Group, Lane, NewJob, NewJobs, QueueName};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};
use store::jobs::{ANALYSIS, RULES};
use uuid::Uuid;

use crate::support::eventually;

const SOON: Duration = Duration::from_secs(20);
/// Workers poll twice a second: what they leave alone for this long, they leave alone.
const A_WHILE: Duration = Duration::from_millis(1_500);
const NIL: &str = "00000000-0000-0000-0000-000000000000";
const DEAD: i64 = 100_000;

/// The binary, on the test's own database.
struct Gatehouse {
    url: String,
}

impl Gatehouse {
    fn on(pool: &PgPool) -> Self {
        let url = pool.connect_options().to_url_lossy().to_string();
        let gatehouse = Self { url };
        gatehouse.done(&["migrate"]);
        gatehouse
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        command
            .env("DATABASE_URL", &self.url)
            .env(
                "GATEHOUSE_MASTER_KEY",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            )
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that succeeds, and returns what it says.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, as the JSON document that it prints.
    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [&["queue", "--json"], arguments].concat();
        serde_json::from_str(&self.done(&arguments)).unwrap()
    }

    /// A worker that runs until it is dropped.
    fn worker(&self) -> Running {
        let arguments = [
            "worker",
            "--metrics-listen",
            "127.0.0.1:0",
            "--lease-seconds",
            "2",
        ];
        let mut command = self.command(&arguments);
        Running(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }
}

/// A process that does not outlive the test.
struct Running(Child);

impl Running {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn output(&mut self) -> Output {
        let status = self.0.wait().unwrap();
        let read = |pipe: Option<&mut dyn std::io::Read>| {
            let mut text = Vec::new();
            pipe.unwrap().read_to_end(&mut text).unwrap();
            text
        };
        Output {
            status,
            stdout: read(self.0.stdout.as_mut().map(|pipe| pipe as _)),
            stderr: read(self.0.stderr.as_mut().map(|pipe| pipe as _)),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Enqueues a job for an item that is not there: whoever runs it is done at once.
async fn enqueue(pool: &PgPool, queue: QueueName, lane: u128) {
    let payload = json!({ "media": Uuid::now_v7() });
    let job = NewJob::new(queue, Lane(Uuid::from_u128(lane)), &payload);
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &NewJobs::from(job))
        .await
        .unwrap();
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

async fn until_count(pool: &PgPool, query: &'static str, enough: impl Fn(i64) -> bool) {
    eventually(query, SOON, async || {
        enough(count(pool, query).await).then_some(())
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_pause_holds_over_a_restart_until_it_is_resumed(pool: PgPool) {
    const HELD: &str = "select count(*) from queue.jobs where lane = lpad('1', 32, '0')::uuid";
    const OTHERS: &str = "select count(*) from queue.jobs where lane = lpad('2', 32, '0')::uuid";
    let gatehouse = Gatehouse::on(&pool);
    let lane = Uuid::from_u128(1).to_string();
    for target in [
        &["--queue", "analysis", "--lane", lane.as_str()][..],
        &["--queue", "rules"],
    ] {
        let with_target = |action| [&[action][..], target].concat();
        let paused = gatehouse.json(&with_target("pause"));
        assert_eq!(
            (&paused["paused"], &paused["paused_until"]),
            (&json!(true), &Value::Null)
        );
        let queue = if target.len() > 2 { ANALYSIS } else { RULES };
        enqueue(&pool, queue, 1).await;
        for _ in 0..2 {
            let _worker = gatehouse.worker();
            enqueue(&pool, ANALYSIS, 2).await;
            until_count(&pool, OTHERS, |waiting| waiting == 0).await;
            tokio::time::sleep(A_WHILE).await;
            assert_eq!(count(&pool, HELD).await, 1, "{target:?} was not held");
        }
        let _worker = gatehouse.worker();
        let resumed = gatehouse.json(&with_target("resume"));
        assert_eq!(
            (&resumed["resumed"], &resumed["paused"]),
            (&json!(true), &json!(false))
        );
        until_count(&pool, HELD, |waiting| waiting == 0).await;
    }
}

#[sqlx::test(migrations = false)]
async fn a_replay_that_is_interrupted_and_killed_loses_and_doubles_nothing(pool: PgPool) {
    const REPLAYED: &str = "select count(*) from queue.jobs";
    let gatehouse = Gatehouse::on(&pool);
    sqlx::query(
        "insert into queue.dead_jobs
                (id, queue, lane, priority, attempt, max_attempts, created_at, died_at, cause, error, payload)
         select i, 'analysis', gen_random_uuid(), 0, 5, 5, now(), now() - i * interval '1 ms', 'exhausted',
                'the provider answered 503', json_build_object('n', i)
           from generate_series(1, $1) i",
    )
    .bind(DEAD)
    .execute(&pool)
    .await
    .unwrap();
    let replay = [
        "queue", "--json", "replay", "--queue", "analysis", "--error", "503",
    ];

    let mut interrupted = Running(gatehouse.command(&replay).spawn().unwrap());
    until_count(&pool, REPLAYED, |replayed| replayed > 0).await;
    interrupted.signal(Signal::INT);
    let output = interrupted.output();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let replayed = count(&pool, REPLAYED).await;
    assert!(replayed < DEAD, "it was over before it was interrupted");
    assert_eq!(
        report,
        json!({ "matching": DEAD, "replayed": replayed, "interrupted": true })
    );

    let mut killed = Running(gatehouse.command(&replay).spawn().unwrap());
    until_count(&pool, REPLAYED, |count| count > replayed).await;
    killed.signal(Signal::KILL);
    killed.output();
    let replayed = count(&pool, REPLAYED).await;
    assert!(replayed < DEAD, "it was over before it was killed");

    let report = gatehouse.json(&replay[2..]);
    assert_eq!(report["interrupted"], false);
    assert_eq!(
        count(&pool, "select count(*) from queue.dead_jobs").await,
        0
    );
    assert_eq!(count(&pool, REPLAYED).await, DEAD);
    let distinct = "select count(distinct (payload ->> 'n')::int) from queue.jobs";
    assert_eq!(count(&pool, distinct).await, DEAD);
}

#[sqlx::test(migrations = false)]
async fn a_team_is_held_back_with_all_its_lanes(pool: PgPool) {
    const HELD: &str = "select count(*) from queue.jobs where grp = lpad('1', 32, '0')::uuid";
    let gatehouse = Gatehouse::on(&pool);
    let team = Uuid::from_u128(1).to_string();
    let target = ["--queue", "analysis", "--group", team.as_str()];
    let with_target = |action| [&[action][..], &target].concat();
    let paused = gatehouse.json(&with_target("pause"));
    assert_eq!(
        (&paused["group"], &paused["paused"]),
        (&json!(team), &json!(true))
    );
    let jobs = (11..14).map(|lane| {
        let payload = json!({ "media": Uuid::now_v7() });
        let job = NewJob::new(ANALYSIS, Lane(Uuid::from_u128(lane)), &payload);
        job.group(Group(Uuid::from_u128(1)))
    });
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &NewJobs::from_iter(jobs))
        .await
        .unwrap();
    let _worker = gatehouse.worker();
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(count(&pool, HELD).await, 3);
    let listed = gatehouse.json(&["jobs", "--group", &team]);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
    assert_eq!(listed["jobs"][0]["group"], json!(team));
    let capped = [&with_target("cap")[..], &["2"]].concat();
    assert_eq!(gatehouse.json(&capped)["cap"], json!(2));
    let status = gatehouse.json(&["status", "--group", &team]);
    let analysis = &status["groups"][1];
    assert_eq!(
        (&analysis["queue"], &analysis["due"], &analysis["cap"]),
        (&json!("analysis"), &json!(3), &json!(2))
    );
    let status = gatehouse.done(&["queue", "status", "--groups"]);
    assert!(
        status.contains("1 group paused, 1 group capped"),
        "{status}"
    );
    assert!(status.contains(&team), "{status}");
    let of_queue = gatehouse.json(&["status"]);
    let analysis = &of_queue["queues"][1];
    assert_eq!(
        (&analysis["due"], &analysis["runnable"]),
        (&json!(3), &json!(0))
    );
    let resumed = gatehouse.json(&with_target("resume"));
    assert_eq!(resumed["resumed"], json!(true));
    until_count(&pool, HELD, |waiting| waiting == 0).await;
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_meant_is_refused_in_one_line(pool: PgPool) {
    let gatehouse = Gatehouse::on(&pool);
    for (arguments, expected) in [
        (
            &["jobs", "--queue", "mails"][..],
            "[possible values: images, analysis, rules,",
        ),
        (&["dead", "--lane", "7"], "a lane is a UUID"),
        (&["dead", "--group", "7"], "a group is a UUID"),
        (
            &["pause", "--queue", "rules", "--group", NIL, "--lane", NIL],
            "cannot be used with",
        ),
        (&["dead", "--id", "x"], "a whole number from 1"),
        (&["pause", "--queue", "rules", "--for", "5"], "5s, 10m"),
        (&["replay"], "--all"),
        (&["replay", "--error", ""], "a value is required"),
    ] {
        let output = gatehouse.run(&[&["queue"], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
    let nowhere = Gatehouse {
        url: "postgres://nobody:nothing@127.0.0.1:1/none".to_owned(),
    };
    let output = nowhere.run(&["queue", "status"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the database cannot be used"), "{error}");
    assert!(error.contains("Connection refused"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}
