//! How Postgres looks a key up.

use std::time::Duration;

use database::{Hosts, PoolSettings};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use store::accept::Acceptance;

use crate::accept::submitter::Submitter;

/// A plan is made once for many executions, perhaps while the table had only one row.
#[sqlx::test(migrations = false)]
async fn a_plan_from_when_there_were_no_keys_reads_one_of_many(
    options: PgPoolOptions,
    database: PgConnectOptions,
) {
    let settings = PoolSettings {
        connections: 2,
        acquire: Duration::from_secs(30),
    };
    let url = database.to_url_lossy();
    let fixture = Submitter::new(database::pool(
        &Hosts::parse(url.as_str()).unwrap(),
        "test",
        settings,
    ))
    .await;
    let accept = async |keys: std::ops::Range<u32>| {
        for key in keys {
            assert_eq!(
                fixture.repeat(&key.to_string(), "text").await,
                Acceptance::Accepted
            );
        }
    };
    fixture
        .execute("alter table idempotency_keys set (autovacuum_enabled = off)")
        .await;
    accept(0..1).await;
    fixture.execute("analyze idempotency_keys").await;
    // From the sixth execution on, each connection keeps its plan.
    accept(1..40).await;
    fixture
        .execute(
            "insert into idempotency_keys (site_id, key, fingerprint, media_id)
             select id, 'other ' || n, '\\x00', gen_random_uuid() from sites, generate_series(1, 20000) n",
        )
        .await;
    accept(40..50).await;

    let pool = fixture.pool.clone();
    fixture.close().await;
    pool.close().await;
    // A connection reports what it has read when it ends.
    let mut observer = options
        .connect_with(database)
        .await
        .unwrap()
        .acquire()
        .await
        .unwrap();
    let others = "select count(*) from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
    while sqlx::query_scalar::<_, i64>(others)
        .fetch_one(&mut *observer)
        .await
        .unwrap()
        > 0
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let read: i64 = sqlx::query_scalar(
        "select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relname = 'idempotency_keys'",
    )
    .fetch_one(&mut *observer)
    .await
    .unwrap();
    assert!(read < 20_000, "{read} rows were read");
}
