//! What the tests of the whole service share: running processes, servers that they call, and
//! waiting with a deadline. Everything that a test starts here ends with the test, even if the test
//! panics.

mod api;
mod commands;
mod data_dir;
mod leftovers;
mod perspective;
mod provider;
mod providers;
mod receiver;
mod scripted_server;
mod servers;
mod short_way;
mod up;
mod worker;

use std::time::{Duration, Instant};

pub(crate) use api::{Api, free_address};
pub(crate) use commands::{
    MASTER_KEY, Site, admin, gatehouse, new_site, run, site_key, text, unset,
};
pub(crate) use data_dir::DataDir;
pub(crate) use perspective::FakePerspective;
pub(crate) use provider::{FakeProvider, Fault, Mode, RIGHT, UNSCORED, Wire};
pub(crate) use providers::Panel;
pub(crate) use receiver::{Received, Receiver};
pub(crate) use scripted_server::{Act, ScriptedServer, picture};
pub(crate) use servers::nobody;
pub(crate) use short_way::short_way;
pub(crate) use up::Up;
pub(crate) use worker::Worker;

use sqlx::PgPool;

/// Far longer than what a test waits for takes, on a slow machine under load too: a test that waits for longer will wait for ever.
pub(crate) const SOON: Duration = Duration::from_mins(3);

const POLL: Duration = Duration::from_millis(20);

/// Asks repeatedly until there is an answer.
///
/// # Panics
/// If there is none `within` this time. The message contains `what`.
pub(crate) async fn eventually<T>(
    what: &str,
    within: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + within;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: not within {within:?}");
        tokio::time::sleep(POLL).await;
    }
}

/// Runs a statement beside a working service. When each waits for the other, Postgres may end the
/// statement. It has changed nothing then, and runs again.
pub(crate) async fn run_beside(pool: &PgPool, statement: &'static str) {
    const DEADLOCK: &str = "40P01";
    eventually("the statement runs", SOON, async || {
        let Err(error) = sqlx::query(statement).execute(pool).await else {
            return Some(());
        };
        let code = error
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code);
        assert_eq!(code.as_deref(), Some(DEADLOCK), "{error}");
        None
    })
    .await;
}

/// The most memory that a process has held so far, in bytes.
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap() << 10
}

/// The most memory that this process has held so far, in bytes.
pub(crate) fn memory_so_far() -> u64 {
    most_memory(std::process::id())
}

/// The number of a process's open files.
fn open_files(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .count()
}

/// An HTTP client that gives up after a minute.
pub(crate) fn http() -> reqwest::Client {
    // The client cannot be built without TLS, although everything here is plain HTTP. A second
    // installation fails, which does no harm: the first one is used. Nor are certificates needed: to read those of the machine
    // takes so long that a server gives up on the connections of other clients meanwhile.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .timeout(SOON)
        .tls_certs_only([])
        .no_proxy()
        .build()
        .expect("TLS has a provider")
}

#[sqlx::test(migrations = false)]
async fn a_statement_that_postgres_ends_because_of_a_deadlock_runs_again(pool: PgPool) {
    const SECOND_THEN_FIRST: &str =
        "with second as (update rows set n = n + 1 where id = 2 returning id)
        update rows set n = n + 1 where id = 1 and exists (select from second)";
    sqlx::raw_sql("create table rows (id int, n int); insert into rows values (1, 0), (2, 0)")
        .execute(&pool)
        .await
        .unwrap();
    let mut service = pool.begin().await.unwrap();
    // Postgres ends the one that looks for deadlocks first.
    sqlx::raw_sql("set local deadlock_timeout = '1 h'; update rows set n = n + 10 where id = 1")
        .execute(&mut *service)
        .await
        .unwrap();
    let meets = async {
        eventually("the statement waits", SOON, async || {
            let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
            let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&pool).await.unwrap();
            (waiting == 1).then_some(())
        })
        .await;
        sqlx::raw_sql("update rows set n = n + 10 where id = 2")
            .execute(&mut *service)
            .await
            .unwrap();
        service.commit().await.unwrap();
    };
    tokio::join!(run_beside(&pool, SECOND_THEN_FIRST), meets);
    let rows: Vec<i32> = sqlx::query_scalar("select n from rows order by id")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(rows, [11, 11]);
}
