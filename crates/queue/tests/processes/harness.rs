//! Setting up, waiting, and the two questions at the end of every test: did each effect happen, and
//! only once?

use std::time::{Duration, Instant};

use queue::{NewJob, NewJobs};
use sqlx::PgPool;
use tokio::time::sleep;

use crate::jobs::TABLES;

/// How long anything may take on a busy machine. On an idle one, it takes much less.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Asks until there is an answer.
///
/// # Panics
/// If there is none for a long time.
pub(crate) async fn eventually<T>(what: &str, ask: impl AsyncFnMut() -> Option<T>) -> T {
    within(PATIENCE, what, ask).await
}

/// Asks until there is an answer, for as long as `patience`.
pub(crate) async fn within<T>(
    patience: Duration,
    what: &str,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: not within {patience:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) async fn prepare(pool: &PgPool) {
    sqlx::raw_sql(TABLES).execute(pool).await.unwrap();
}

pub(crate) async fn enqueue(pool: &PgPool, jobs: impl IntoIterator<Item = NewJob>) {
    let jobs: NewJobs = jobs.into_iter().collect();
    queue::enqueue(&mut pool.acquire().await.unwrap(), &jobs)
        .await
        .unwrap();
}

/// Waits until a boolean query returns true. The database may be away in the meantime.
pub(crate) async fn until(pool: &PgPool, condition: &'static str) {
    until_within(PATIENCE, pool, condition).await;
}

/// The same, with another patience.
pub(crate) async fn until_within(patience: Duration, pool: &PgPool, condition: &'static str) {
    within(patience, condition, async || {
        let holds: Result<Option<bool>, _> = sqlx::query_scalar(condition).fetch_one(pool).await;
        matches!(holds, Ok(Some(true))).then_some(())
    })
    .await;
}

/// Waits until no job is left.
pub(crate) async fn until_idle(pool: &PgPool) {
    until(pool, "select not exists (select from queue.jobs)").await;
}

pub(crate) async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

pub(crate) async fn texts(pool: &PgPool, query: &'static str) -> Vec<String> {
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}

/// Each effect as `name attempt`, in alphabetical order.
pub(crate) async fn effects(pool: &PgPool) -> Vec<String> {
    texts(
        pool,
        "select name || ' ' || attempt from effects order by 1",
    )
    .await
}

/// Checks that each of this many jobs with different names has left exactly one effect.
pub(crate) async fn assert_each_once(pool: &PgPool, jobs: i64) {
    let doubled = texts(
        pool,
        "select name || ' ' || count(*) || ' times' from effects
          group by name having count(*) > 1 limit 10",
    )
    .await;
    assert!(doubled.is_empty(), "doubled effects: {doubled:?}");
    assert_eq!(
        count(pool, "select count(distinct name) from effects").await,
        jobs,
        "lost effects"
    );
}
