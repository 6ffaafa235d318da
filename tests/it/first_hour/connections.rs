//! All processes together may open more connections than Postgres allows: `check` fails, and a
//! process warns and starts.

use std::{fs, process::Stdio};

use sqlx::PgPool;

use crate::support::{Api, SOON, Worker, eventually, gatehouse, run};

/// More than any server allows.
const WANTED: i32 = 1_000_000;

/// A live process that may open too many connections.
async fn register(pool: &PgPool) {
    sqlx::query(
        "insert into queue.workers (id, expires_at, connections)
         values (gen_random_uuid(), now() + interval '1 hour', $1)",
    )
    .bind(WANTED)
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn check_counts_the_connections_of_all_processes(pool: PgPool) {
    run(&pool, &["migrate"]);
    let check = || {
        let mut command = gatehouse(&pool);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.arg("check").output().unwrap();
        let [out, error] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (out, error, output.status.code())
    };
    let (out, error, code) = check();
    let told = "connections: all processes together may open 0 connections, and Postgres allows ";
    assert!(out.contains(told), "{out}");
    assert_eq!((error.as_str(), code), ("", Some(0)));

    register(&pool).await;
    let (out, error, code) = check();
    let told = format!(
        "error: all processes together may open {WANTED} connections, and Postgres allows "
    );
    assert!(error.starts_with(&told), "{error}");
    assert!(
        error.contains(": raise its max_connections, or lower GATEHOUSE_DATABASE_CONNECTIONS."),
        "{error}"
    );
    assert_eq!(code, Some(1));
    assert!(!out.contains("connections: "), "{out}");
}

#[sqlx::test(migrations = false)]
async fn a_process_warns_of_too_many_connections_and_starts(pool: PgPool) {
    run(&pool, &["migrate"]);
    register(&pool).await;
    let logs = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    let [api, worker] = logs.each_ref().map(|log| {
        let mut command = gatehouse(&pool);
        command
            .env("GATEHOUSE_LOG_FORMAT", "human")
            .stderr(log.reopen().unwrap());
        command
    });
    let _api = Api::launch(api, &[]).await;
    let worker = Worker::launch(worker).await;
    // The statistics begin at once.
    worker.leaves_jobs();
    for log in &logs {
        eventually("a warning", SOON, async || {
            let text = fs::read_to_string(log.path()).unwrap();
            let told = "all processes together may open ";
            let line = text.lines().find(|line| line.contains(told))?;
            assert!(
                line.contains("WARN") && line.contains("raise its max_connections"),
                "{line}"
            );
            Some(())
        })
        .await;
    }
}
