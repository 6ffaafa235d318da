//! What goes wrong inside the service: a row that Postgres refuses, a provider that fails, a
//! database that is away.

use std::time::Duration;

use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};
use tokio::time::sleep;

use super::service::Service;
use super::{METADATA, SOON, TEXT};
use crate::support::{FakeProvider, Mode, Site, eventually};

/// Makes all of it happen, one after the other.
pub(super) async fn trouble(
    service: &Service,
    site: &Site,
    provider: &FakeProvider,
    pool: &PgPool,
) {
    // A row that Postgres refuses. Its error contains all values of the row.
    execute(
        pool,
        "alter table media add constraint refused check (body not like '%refuse me')",
    )
    .await;
    let refused = json!({ "body": format!("{TEXT} refuse me") });
    assert_eq!(service.submit(site, refused).await.0, 400);

    // A provider that quotes the text in its errors, or closes the connection.
    for mode in [
        Mode::Quoting(400),
        Mode::Quoting(500),
        Mode::Malformed,
        Mode::Reset,
    ] {
        provider.answer(mode);
        let asked = provider.asked();
        let body = json!({ "body": format!("{TEXT} {mode:?}"), "api_key": site.key });
        service.api.post("submit-media", None, &body).await.unwrap();
        eventually("an analysis", SOON, async || {
            (provider.asked() > asked).then_some(())
        })
        .await;
    }
    provider.answer(Mode::Well);

    // A database that refuses connections for a while.
    let name: String = sqlx::query_scalar("select current_database()")
        .fetch_one(pool)
        .await
        .unwrap();
    let elsewhere = (*pool.connect_options()).clone().database("postgres");
    let mut conn = elsewhere.connect().await.unwrap();
    let close = format!("alter database \"{name}\" allow_connections false");
    let open = format!("alter database \"{name}\" allow_connections true");
    // Only the connections of this test: other tests use the same server.
    let disconnect = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where application_name like 'gatehouse%' and datname = '{name}'"
    );
    for statement in [&close, &disconnect] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.as_str()))
            .execute(&mut conn)
            .await
            .unwrap();
    }
    let body = json!({ "body": format!("{TEXT} away"), "metadata": { "a": METADATA } });
    assert_eq!(service.submit(site, body.clone()).await.0, 503);
    sleep(Duration::from_secs(2)).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(open.as_str()))
        .execute(&mut conn)
        .await
        .unwrap();
    eventually("the database is back", SOON, async || {
        (service.submit(site, body.clone()).await.0 == 200).then_some(())
    })
    .await;
}

async fn execute(pool: &PgPool, statement: &'static str) {
    sqlx::raw_sql(statement).execute(pool).await.unwrap();
}
