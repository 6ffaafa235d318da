//! `gatehouse queue`, run as operators run it, beside real workers.

mod mistakes;
mod pauses;
mod replay;
mod running;

use sqlx::PgPool;

use crate::support::{SOON, eventually};

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

async fn until_count(pool: &PgPool, query: &'static str, enough: impl Fn(i64) -> bool) {
    eventually(query, SOON, async || {
        enough(count(pool, query).await).then_some(())
    })
    .await;
}
