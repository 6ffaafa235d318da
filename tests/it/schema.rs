//! `migrate`, `check` and the processes agree about schemas that are newer, too new, or of another application.

use std::process::{Output, Stdio};

use sqlx::{AssertSqlSafe, PgPool};

use crate::support::{Worker, gatehouse, run};

/// What a command said, and its exit code.
fn said(pool: &PgPool, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = gatehouse(pool);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Output {
        status,
        stdout,
        stderr,
    } = command.args(arguments).output().unwrap();
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8(text).unwrap())
}

async fn sql(pool: &PgPool, text: &str) {
    sqlx::raw_sql(AssertSqlSafe(text.to_owned()))
        .execute(pool)
        .await
        .unwrap();
}

/// What the `migrate` of a later version leaves in the list.
async fn apply(pool: &PgPool, name: &str) {
    let row = format!(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (999, '{name}', true, 'x', 1)"
    );
    sql(pool, &row).await;
}

#[sqlx::test(migrations = false)]
async fn a_rolled_back_binary_serves_a_newer_schema(pool: PgPool) {
    run(&pool, &["migrate"]);
    apply(&pool, "more").await;
    for command in ["migrate", "check"] {
        let (code, text) = said(&pool, &[command]);
        let is_told = text.contains("newer than this version: it has migrations up to 999");
        assert!(code == Some(0) && is_told, "{command}: {text}");
    }
    // Its launch waits until it is ready.
    let worker = Worker::launch(gatehouse(&pool)).await;
    // The statistics begin at once.
    worker.leaves_jobs();
}

#[sqlx::test(migrations = false)]
async fn a_schema_that_is_too_new_is_refused_by_all_in_the_same_words(pool: PgPool) {
    run(&pool, &["migrate"]);
    apply(&pool, "drop what was there needs 999").await;
    let metrics = ["--metrics-listen", "127.0.0.1:0"];
    for arguments in [
        &["migrate"][..],
        &["check"],
        &["queue", "status"],
        &[&["worker"][..], &metrics].concat()[..],
        &[&["api", "--listen", "127.0.0.1:0"][..], &metrics].concat()[..],
    ] {
        let (code, text) = said(&pool, arguments);
        let told = "error: the schema is too new for this version: it has migrations up to 999";
        let is_told =
            text.contains(told) && text.contains("Run a version that knows migration 999");
        assert!(code == Some(1) && is_told, "{arguments:?}: {text}");
    }
}

#[sqlx::test(migrations = false)]
async fn another_applications_database_is_refused_and_left_as_it_is(pool: PgPool) {
    sql(
        &pool,
        "drop schema if exists ops, queue cascade; drop schema public cascade; create schema public;
         create table media (id bigint primary key)",
    )
    .await;
    for command in ["migrate", "check"] {
        let (code, text) = said(&pool, &[command]);
        let is_told = text.contains(
            "error: the database belongs to another application: it has the table media,",
        );
        assert!(code == Some(1) && is_told, "{command}: {text}");
    }
    let left: Vec<String> = sqlx::query_scalar(
        "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and c.relkind = 'r'
         union all
         select nspname::text from pg_namespace where nspname in ('ops', 'queue')",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(left, ["media"]);
}
