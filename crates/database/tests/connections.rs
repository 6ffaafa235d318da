//! Connections to a real Postgres whose settings, role and encoding are not what they should be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use database::{Hosts, PoolSettings, UnsuitableServer};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

const SETTINGS: PoolSettings = PoolSettings {
    connections: 2,
    acquire: Duration::from_secs(2),
};

fn hosts(database: &PgConnectOptions) -> Hosts {
    Hosts::parse(database.to_url_lossy().as_str()).unwrap()
}

fn pool(database: &PgConnectOptions) -> PgPool {
    database::pool(&hosts(database), "test", SETTINGS)
}

/// Changes a setting of the database, for sessions that begin from now on.
async fn alter(database: &PgConnectOptions, change: &str) {
    let mut conn = PgConnection::connect_with(database).await.unwrap();
    let name = database.get_database().unwrap();
    let statement = format!(r#"alter database "{name}" {change}"#);
    conn.execute(AssertSqlSafe(statement)).await.unwrap();
}

/// A socket that is bound, so that nobody else gets its port, and does not listen.
fn bound() -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket
}

async fn setting(pool: &PgPool, name: &str) -> String {
    sqlx::query_scalar("select current_setting($1)")
        .bind(name)
        .fetch_one(pool)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn case_46_a_session_that_cannot_write_is_not_used(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    // This is as if a name or a proxy led to a standby.
    alter(&database, "set default_transaction_read_only = on").await;
    let pool = pool(&database);
    assert!(pool.acquire().await.is_err());
    let told = database::connect(&pool).await.unwrap_err().to_string();
    assert!(told.contains("read-only"), "{told}");
    assert!(hosts(&database).with_writable_first().await.is_err());

    let mut own = PgConnection::connect_with(&database).await.unwrap();
    own.execute("set transaction_read_only = off")
        .await
        .unwrap();
    let name = database.get_database().unwrap();
    let reset = format!(r#"begin read write; alter database "{name}" reset all; commit"#);
    own.execute(AssertSqlSafe(reset)).await.unwrap();
    assert_eq!(setting(&pool, "transaction_read_only").await, "off");
    pool.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_46_a_session_whose_server_writes_no_more_is_replaced(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    // One connection, so that it is the same one each time.
    let alone = PoolSettings {
        connections: 1,
        ..SETTINGS
    };
    let pool = database::pool(&hosts(&database), "test", alone);
    let process = "select pg_backend_pid()";
    let before: i32 = sqlx::query_scalar(process).fetch_one(&pool).await.unwrap();
    pool.execute("set default_transaction_read_only = on")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    let after: i32 = sqlx::query_scalar(process).fetch_one(&pool).await.unwrap();
    assert_ne!(before, after);
    assert_eq!(setting(&pool, "transaction_read_only").await, "off");

    // A connection that is used all the time proves it too, once in each second of its life.
    pool.execute("set default_transaction_read_only = on")
        .await
        .unwrap();
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if setting(&pool, "transaction_read_only").await == "off" {
            pool.close().await;
            return;
        }
    }
    panic!("a busy connection is never replaced");
}

#[sqlx::test(migrations = false)]
async fn case_46_pools_follow_the_host_that_can_write(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let socket = bound();
    let nobody = socket.local_addr().unwrap();
    let host = format!("{}:{}", database.get_host(), database.get_port());
    let url = database.to_url_lossy().to_string();
    let url = url.replace(&host, &format!("{nobody},{host}"));
    let several = Hosts::parse(&url).unwrap();
    let one = several.clone().with_writable_first().await.unwrap();
    let pool_of_one = database::pool(&one, "test", SETTINGS);
    assert_eq!(setting(&pool_of_one, "application_name").await, "test");

    let led = database::pool(&several, "led", SETTINGS);
    let beside = database::separate_pool(&led, 1);
    let watch = database::watch(several, led.clone());
    watch.lead(beside.clone());
    for _ in 0..10 {
        if led.acquire().await.is_ok() {
            break;
        }
    }
    assert_eq!(setting(&led, "application_name").await, "led");
    assert_eq!(setting(&beside, "application_name").await, "led");
    for pool in [pool_of_one, led, beside] {
        pool.close().await;
    }
}

#[sqlx::test(migrations = false)]
async fn case_47_what_the_server_has_as_its_defaults_changes_nothing(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    for change in [
        "set default_transaction_isolation = 'serializable'",
        "set idle_session_timeout = '1s'",
        "set synchronous_commit = off",
        "set enable_seqscan = on",
    ] {
        alter(&database, change).await;
    }
    let pool = pool(&database);
    for (name, expected) in [
        ("transaction_isolation", "read committed"),
        ("idle_session_timeout", "0"),
        ("synchronous_commit", "on"),
        ("enable_seqscan", "off"),
    ] {
        assert_eq!(setting(&pool, name).await, expected, "{name}");
    }
    // A server that is set to more than `on` keeps its setting.
    alter(&database, "set synchronous_commit = remote_apply").await;
    let stricter = database::separate_pool(&pool, 1);
    assert_eq!(
        setting(&stricter, "synchronous_commit").await,
        "remote_apply"
    );
    database::check_server(&pool).await.unwrap();
    stricter.close().await;
    pool.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_47_a_database_in_which_not_every_text_fits_is_refused(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let mut conn = PgConnection::connect_with(&database).await.unwrap();
    let name = format!("latin1_{}", std::process::id());
    let create =
        format!(r#"create database "{name}" encoding 'LATIN1' locale 'C' template template0"#);
    conn.execute(AssertSqlSafe(create)).await.unwrap();
    let latin1 = pool(&database.clone().database(&name));
    let unfit = database::check_server(&latin1).await.unwrap_err();
    assert!(matches!(&unfit, UnsuitableServer::Encoding(encoding) if encoding == "LATIN1"));
    assert!(unfit.is_final());
    latin1.close().await;
    let drop = format!(r#"drop database "{name}""#);
    conn.execute(AssertSqlSafe(drop)).await.unwrap();
}

#[tokio::test]
async fn case_53_the_reason_is_told_and_not_that_time_was_up() {
    let socket = bound();
    let nobody = socket.local_addr().unwrap();
    let hosts = Hosts::parse(&format!("postgres://nobody@{nobody}/nothing")).unwrap();
    let pool = database::pool(&hosts, "test", SETTINGS);
    let told = hosts.with_writable_first().await.unwrap_err().to_string();
    assert!(told.contains("refused"), "{told}");
    assert!(pool.acquire().await.is_err());
    let told = database::connect(&pool).await.unwrap_err().to_string();
    assert!(told.contains("refused"), "{told}");
}
