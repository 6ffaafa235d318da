//! Waiting until acceptances take the short way.

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use super::{SOON, eventually};

/// Waits until acceptances take the short way: a worker has announced itself, and the interface has
/// read that. The interface reads it once per second, and one reading starts after the last one was
/// used. So it waits for the start of a second reading.
pub(crate) async fn short_way(pool: &PgPool) {
    eventually("a worker announces itself", SOON, async || {
        let alive = "select exists (select from item_workers where expires_at > now())";
        let alive: bool = sqlx::query_scalar(alive).fetch_one(pool).await.unwrap();
        alive.then_some(())
    })
    .await;
    let mut last: DateTime<Utc> = sqlx::query_scalar("select now()")
        .fetch_one(pool)
        .await
        .unwrap();
    for _ in 0..2 {
        last = eventually("the interface looks for workers", SOON, async || {
            sqlx::query_scalar(
                "select max(query_start) from pg_stat_activity
                 where datname = current_database() and application_name like 'gatehouse%'
                     and query like '%from item_workers w where%' and query_start > $1",
            )
            .bind(last)
            .fetch_one(pool)
            .await
            .unwrap()
        })
        .await;
    }
}
