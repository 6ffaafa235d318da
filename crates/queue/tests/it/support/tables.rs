//! The tables that tests look at, and waiting for an expected state.

use std::time::Duration;

use queue::{NewJob, NewJobs};
use sqlx::PgPool;
use tokio::time::Instant;

/// How long anything may take on a busy machine. On an idle one, it takes much less.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) async fn prepare(pool: &PgPool) {
    sqlx::raw_sql(
        "create table effects (
             name text not null,
             attempt int not null,
             sound bool not null constraint effects_sound check (sound)
         );
         create table obituaries (name text not null, cause text not null)",
    )
    .execute(pool)
    .await
    .unwrap();
}

pub(crate) async fn enqueue(pool: &PgPool, jobs: impl IntoIterator<Item = NewJob>) -> NewJobs {
    let jobs: NewJobs = jobs.into_iter().collect();
    queue::enqueue(&mut pool.acquire().await.unwrap(), &jobs)
        .await
        .unwrap();
    jobs
}

/// Waits until a boolean query returns true.
pub(crate) async fn until(pool: &PgPool, condition: &'static str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let holds: Option<bool> = sqlx::query_scalar(condition).fetch_one(pool).await.unwrap();
        if holds == Some(true) {
            return;
        }
        if Instant::now() > deadline {
            let jobs: Vec<String> =
                sqlx::query_scalar("select row_to_json(j)::text from queue.jobs j limit 5")
                    .fetch_all(pool)
                    .await
                    .unwrap();
            panic!("never came true: {condition}; jobs: {jobs:#?}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) async fn until_idle(pool: &PgPool) {
    until(pool, "select not exists (select from queue.jobs)").await;
}

pub(crate) async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

pub(crate) async fn names(pool: &PgPool, query: &'static str) -> Vec<String> {
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}
