//! Too few connections, on a real Postgres: a role that may have only some.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::{Duration, Instant};

use database::{Hosts, PoolSettings, Watch, connection_shortage};
use futures::future::try_join_all;
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, PgPool, Postgres,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::timeout;

/// How many connections the role may have.
const LIMIT: u32 = 5;

/// The database as a role with a limit sees it.
async fn limited(database: &PgConnectOptions) -> Hosts {
    let role = format!("few_{}", rand::random::<u64>());
    let mut conn = PgConnection::connect_with(database).await.unwrap();
    let create = format!("create role {role} login password 'few' connection limit {LIMIT}");
    sqlx::raw_sql(AssertSqlSafe(create))
        .execute(&mut conn)
        .await
        .unwrap();
    let url = database
        .clone()
        .username(&role)
        .password("few")
        .to_url_lossy();
    Hosts::parse(url.as_str()).unwrap()
}

fn pool(hosts: &Hosts, connections: u32) -> PgPool {
    let settings = PoolSettings {
        connections,
        acquire: Duration::from_secs(20),
    };
    database::pool(hosts, "few", settings)
}

/// A process of a role with a limit: its pool, and what watches its database.
async fn process(database: &PgConnectOptions) -> (PgPool, Watch) {
    let hosts = limited(database).await;
    let pool = pool(&hosts, LIMIT - 1);
    let watch = database::watch(hosts, pool.clone());
    (pool, watch)
}

/// Takes so many connections of a pool.
async fn take(pool: &PgPool, connections: u32) -> Vec<PoolConnection<Postgres>> {
    try_join_all((0..connections).map(|_| pool.acquire()))
        .await
        .unwrap()
}

/// Opens so many connections of a pool, and lets them rest.
async fn open(pool: &PgPool, connections: u32) {
    drop(take(pool, connections).await);
    until(async || pool.num_idle() == connections as usize).await;
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(30), "never came true");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[sqlx::test(migrations = false)]
async fn case_92_whoever_is_refused_gets_the_place_of_a_connection_that_rests(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let (pool, _watch) = process(&database).await;
    // The watch has the last one.
    open(&pool, LIMIT - 1).await;
    let others = try_join_all((0..LIMIT - 1).map(|_| database::connect(&pool)));
    let others = others.await.unwrap();
    assert!(connection_shortage::is_scarce());
    drop(others);
    // The pool goes on, too.
    sqlx::query("select 1").execute(&pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_92_a_connection_that_is_used_all_the_time_makes_room_while_they_are_scarce(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let (pool, _watch) = process(&database).await;
    let busy: Vec<_> = (1..LIMIT)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                loop {
                    let _ = sqlx::query("select pg_sleep(0.01)").execute(&pool).await;
                }
            })
        })
        .collect();
    until(async || pool.size() == LIMIT - 1 && pool.num_idle() == 0).await;
    database::connect(&pool).await.unwrap();
    database::connect(&pool).await.unwrap();
    busy.iter().for_each(tokio::task::JoinHandle::abort);
}

#[sqlx::test(migrations = false)]
async fn case_92_who_listens_makes_room_while_connections_are_scarce(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let (pool, _watch) = process(&database).await;
    assert_eq!(
        connection_shortage::unless_scarce(async { 7 }).await,
        Some(7)
    );
    let listening = tokio::spawn(connection_shortage::unless_scarce(
        std::future::pending::<()>(),
    ));
    open(&pool, LIMIT - 1).await;
    database::connect(&pool).await.unwrap();
    let ended = timeout(Duration::from_secs(30), listening).await;
    assert_eq!(ended.expect("it listens no more").unwrap(), None);
}

#[sqlx::test(migrations = false)]
async fn case_92_a_connection_that_has_done_its_work_goes_to_whoever_is_refused(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    // Nobody watches, so nothing that rests is closed.
    let hosts = limited(&database).await;
    let pool = pool(&hosts, LIMIT);
    let mut held = take(&pool, LIMIT).await;
    let refused = tokio::spawn({
        let pool = pool.clone();
        async move { database::connect(&pool).await }
    });
    until(async || connection_shortage::is_scarce()).await;
    // A young one would be kept.
    tokio::time::sleep(Duration::from_millis(400)).await;
    held.pop();
    refused.await.unwrap().unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_92_a_process_that_gets_no_connection_to_watch_with_knows_that_they_are_scarce(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let hosts = limited(&database).await;
    let pool = pool(&hosts, LIMIT);
    let _held = take(&pool, LIMIT).await;
    let _watch = database::watch(hosts, pool.clone());
    until(async || connection_shortage::is_scarce()).await;
}

#[sqlx::test(migrations = false)]
async fn case_92_a_command_waits_for_a_connection_while_none_is_left(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let hosts = limited(&database).await;
    let pool = pool(&hosts, LIMIT);
    let held = take(&pool, LIMIT).await;
    let waiting = tokio::spawn(hosts.with_writable_first());
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished());
    for conn in held {
        conn.close().await.unwrap();
    }
    waiting.await.unwrap().unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_92_what_rests_is_closed_within_seconds_but_for_two(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let (pool, _watch) = process(&database).await;
    open(&pool, LIMIT - 1).await;
    // Used now and then: no connection rests for long, but most of them rest at any time. Two rest,
    // beside the one that may be in use.
    until(async || {
        sqlx::query("select 1").execute(&pool).await.unwrap();
        pool.size() <= 3
    })
    .await;
    until(async || pool.size() == 2).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(pool.size(), 2);
    assert!(!connection_shortage::is_scarce());
}
