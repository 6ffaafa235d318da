//! The life of a private Postgres, with real processes in temporary directories. Postgres refuses to run as root, and `up`
//! gives root's rights up before it starts it: a test that root runs does the same.

use std::{fs, os::unix::process::CommandExt as _, path::Path, process::Command, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection, PgPool};
use store::database_metrics;
use tempfile::TempDir;

use super::*;
use crate::system_account::{self, SystemAccount};

/// If root runs the tests, runs the test of this name in a process of the account that `up` uses.
/// Returns `true` after it succeeded.
fn ran_as_account(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    let account =
        SystemAccount::for_root(system_account::DEFAULT).expect("`scripts/setup test` makes it");
    let ended = Command::new("/proc/self/exe")
        .args([
            "--exact",
            &format!("embedded_postgres::tests::{test}"),
            "--nocapture",
        ])
        .uid(account.uid().as_raw())
        .gid(account.gid().as_raw())
        .status()
        .unwrap();
    assert!(ended.success(), "{ended}");
    true
}

fn scratch() -> (TempDir, DataDir) {
    let temporary = tempfile::tempdir().unwrap();
    let data = DataDir::open(&temporary.path().join("data")).unwrap();
    (temporary, data)
}

async fn run(url: &str, sql: &'static str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
}

async fn text(url: &str, sql: &'static str) -> sqlx::Result<String> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar(sql).fetch_one(&mut connection).await
}

fn postmaster(data: &DataDir) -> Pid {
    let text = fs::read_to_string(data.join("postgres/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap()).unwrap()
}

/// The one line that a user would see.
async fn refusal(data: &DataDir) -> String {
    let line = format!("{:#}", EmbeddedPostgres::start(data).await.unwrap_err());
    assert!(!line.contains('\n'), "{line}");
    line
}

#[tokio::test]
async fn a_second_start_finds_everything_as_it_was() {
    if ran_as_account("a_second_start_finds_everything_as_it_was") {
        return;
    }
    let (_temporary, data) = scratch();
    let first = EmbeddedPostgres::start(&data).await.unwrap();
    let url = first.url().to_owned();
    run(&url, "create table kept as select 'here' as word").await;
    first.stop().await;
    assert!(
        !data.join("postgres/postmaster.pid").exists(),
        "it was stopped in order"
    );

    let second = EmbeddedPostgres::start(&data).await.unwrap();
    assert_eq!(second.url(), url);
    assert_eq!(text(&url, "select word from kept").await.unwrap(), "here");
    second.stop().await;
}

#[tokio::test]
async fn what_was_committed_is_durable_whatever_the_local_settings_say() {
    if ran_as_account("what_was_committed_is_durable_whatever_the_local_settings_say") {
        return;
    }
    let (_temporary, data) = scratch();
    fs::write(
        data.join("postgres.local.conf"),
        "fsync = off\nwork_mem = 9MB\n",
    )
    .unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    let settings = "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings where name in \
                    ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'work_mem', 'listen_addresses')";
    assert_eq!(
        text(postgres.url(), settings).await.unwrap(),
        "data_checksums=on fsync=on full_page_writes=on listen_addresses= synchronous_commit=on work_mem=9216"
    );
    postgres.stop().await;
}

#[tokio::test]
async fn its_log_has_no_texts_of_rows_whatever_the_local_settings_say() {
    if ran_as_account("its_log_has_no_texts_of_rows_whatever_the_local_settings_say") {
        return;
    }
    let (_temporary, data) = scratch();
    let local = "log_error_verbosity = verbose\nlog_parameter_max_length_on_error = -1\n";
    fs::write(data.join("postgres.local.conf"), local).unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    let settings = "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings where name in \
                    ('log_error_verbosity', 'log_parameter_max_length_on_error')";
    assert_eq!(
        text(postgres.url(), settings).await.unwrap(),
        "log_error_verbosity=terse log_parameter_max_length_on_error=0"
    );
    postgres.stop().await;
}

#[tokio::test]
async fn an_archive_that_fails_is_seen() {
    if ran_as_account("an_archive_that_fails_is_seen") {
        return;
    }
    let (_temporary, data) = scratch();
    let local = "archive_mode = on\narchive_command = 'false'\n";
    fs::write(data.join("postgres.local.conf"), local).unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    let pool = PgPool::connect(postgres.url()).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    let sight = database_metrics::visibility(&mut conn).await.unwrap();
    let archiving = async |conn: &mut PgConnection| {
        database_metrics::archiving(conn, &sight)
            .await
            .unwrap()
            .unwrap()
    };
    assert!(archiving(&mut conn).await.failures < 1.0);
    run(postgres.url(), "create table written (id int)").await;
    run(
        postgres.url(),
        "do $$ begin perform pg_switch_wal(); end $$",
    )
    .await;
    let mut seen = archiving(&mut conn).await;
    for _ in 0..1_800 {
        if seen.is_failing {
            break;
        }
        sleep(Duration::from_millis(100)).await;
        seen = archiving(&mut conn).await;
    }
    assert!(seen.is_failing && seen.failures > 0.0, "{seen:?}");
    run(postgres.url(), "alter system set archive_command = 'true'").await;
    run(
        postgres.url(),
        "do $$ begin perform pg_reload_conf(); perform pg_switch_wal(); end $$",
    )
    .await;
    for _ in 0..1_800 {
        if !seen.is_failing {
            break;
        }
        sleep(Duration::from_millis(100)).await;
        seen = archiving(&mut conn).await;
    }
    assert!(!seen.is_failing, "{seen:?}");
    drop(conn);
    pool.close().await;
    postgres.stop().await;
}

#[tokio::test]
async fn a_killed_postgres_comes_back_under_the_same_url() {
    if ran_as_account("a_killed_postgres_comes_back_under_the_same_url") {
        return;
    }
    let (_temporary, data) = scratch();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    run(postgres.url(), "create table kept as select 'here' as word").await;
    kill_process(postmaster(&data), Signal::KILL).unwrap();
    let mut word = Err(sqlx::Error::WorkerCrashed);
    for _ in 0..1_800 {
        word = text(postgres.url(), "select word from kept").await;
        if word.is_ok() {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(word.unwrap(), "here");
    postgres.stop().await;
}

#[tokio::test]
async fn a_postgres_that_a_killed_process_left_is_replaced() {
    if ran_as_account("a_postgres_that_a_killed_process_left_is_replaced") {
        return;
    }
    let (_temporary, data) = scratch();
    let cluster = Cluster::prepare(&data).await.unwrap();
    // What SIGKILL does: nobody stops Postgres.
    std::mem::forget(Server::start(&cluster).await.unwrap());
    let orphan = postmaster(&data);
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    assert_ne!(postmaster(&data), orphan);
    postgres.stop().await;
}

#[tokio::test]
async fn a_stale_pid_file_with_the_pid_of_a_stranger_is_no_obstacle() {
    if ran_as_account("a_stale_pid_file_with_the_pid_of_a_stranger_is_no_obstacle") {
        return;
    }
    let (_temporary, data) = scratch();
    EmbeddedPostgres::start(&data).await.unwrap().stop().await;
    let cluster = Cluster::prepare(&data).await.unwrap();
    let mut stranger = binaries::command(Path::new("/bin/sleep"))
        .arg("60")
        .spawn()
        .unwrap();
    let pid = stranger.id().unwrap();
    let file = format!(
        "{pid}\n{}\n1\n5432\n\n\n 1 1\nready\n",
        cluster.directory.display()
    );
    fs::write(data.join("postgres/postmaster.pid"), &file).unwrap();
    fs::write(data.join("run/.s.PGSQL.5432.lock"), &file).unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger lives");
    stranger.kill().await.unwrap();
    postgres.stop().await;
}

#[tokio::test]
async fn an_interrupted_first_start_is_begun_anew() {
    if ran_as_account("an_interrupted_first_start_is_begun_anew") {
        return;
    }
    let (_temporary, data) = scratch();
    fs::create_dir(data.join("postgres.new-1")).unwrap();
    fs::write(data.join("postgres.new-1/PG_VERSION"), "15").unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    assert!(!data.join("postgres.new-1").exists());
    postgres.stop().await;
}

#[tokio::test]
async fn damaged_files_are_reported_in_one_line_and_left_alone() {
    if ran_as_account("damaged_files_are_reported_in_one_line_and_left_alone") {
        return;
    }
    let (_temporary, data) = scratch();
    EmbeddedPostgres::start(&data).await.unwrap().stop().await;
    let control = data.join("postgres/global/pg_control");
    fs::write(&control, vec![0xFF; 8192]).unwrap();
    let line = refusal(&data).await;
    assert!(
        line.contains("did not start") && line.contains("nothing was deleted"),
        "{line}"
    );
    assert_eq!(fs::read(&control).unwrap(), vec![0xFF; 8192]);
}

#[tokio::test]
async fn a_database_of_an_unsupported_version_is_refused() {
    if ran_as_account("a_database_of_an_unsupported_version_is_refused") {
        return;
    }
    let (_temporary, data) = scratch();
    EmbeddedPostgres::start(&data).await.unwrap().stop().await;
    fs::write(data.join("postgres/PG_VERSION"), "9\n").unwrap();
    let line = refusal(&data).await;
    assert!(line.contains("PostgreSQL 9"), "{line}");
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_is_served_all_the_same() {
    if ran_as_account("a_path_too_long_for_a_socket_is_served_all_the_same") {
        return;
    }
    let (temporary, _short) = scratch();
    let data = DataDir::open(&temporary.path().join("long".repeat(30))).unwrap();
    let postgres = EmbeddedPostgres::start(&data).await.unwrap();
    assert_eq!(text(postgres.url(), "select 'here'").await.unwrap(), "here");
    postgres.stop().await;
    let cluster = Cluster::prepare(&data).await.unwrap();
    fs::remove_dir(cluster.socket.parent().unwrap()).unwrap();
}
