//! Connections that Postgres ended are replaced, and no caller notices.

use std::time::Duration;

use database::{Hosts, PoolSettings};
use domain::id::MediaId;
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use store::{schema, verdict};
use uuid::Uuid;

#[sqlx::test(migrations = false)]
async fn a_read_whose_connection_was_ended_is_read_again(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let settings = PoolSettings {
        connections: 4,
        acquire: Duration::from_secs(30),
    };
    let pool = database::pool(
        &Hosts::parse(database.to_url_lossy().as_str()).unwrap(),
        "readers",
        settings,
    );
    schema::migrate(&pool).await.unwrap();
    let outside = PgPool::connect_with(database).await.unwrap();
    let loader = verdict::loader(pool.clone());
    let nothing = MediaId::from(Uuid::now_v7());
    for _ in 0..5 {
        assert!(loader.load(nothing).await.unwrap().is_none());
        let ended: i64 = sqlx::query_scalar(
            "select count(*) filter (where pg_terminate_backend(pid, 60000)) from pg_stat_activity
             where application_name = 'readers' and datname = current_database()",
        )
        .fetch_one(&outside)
        .await
        .unwrap();
        assert!(ended > 0);
        // The pool has seen the connection work a moment ago, and does not ask it again.
        assert!(loader.load(nothing).await.unwrap().is_none());
    }
    pool.close().await;
    outside.close().await;
}
