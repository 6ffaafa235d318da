//! What a test leaves in the queue of a service that works.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};

/// How long running jobs may take to end on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until all jobs have ended well. For `Drop`: it blocks, and it needs no runtime.
///
/// # Panics
/// If a job is left, or died.
pub(crate) fn expect_none(database: &str) {
    let database = database.to_owned();
    // This thread may be running the runtime of the test.
    let left = std::thread::spawn(move || left(&database)).join();
    let left = left.expect("the queue can be read");
    assert!(
        left.is_empty(),
        "the test leaves jobs (queue, state, how many): {left:?}; if it should, say so with `up.leaves_jobs()`"
    );
}

/// What is left in the end.
#[tokio::main(flavor = "current_thread")]
async fn left(database: &str) -> Vec<(String, String, i64)> {
    let deadline = Instant::now() + PATIENCE;
    let mut conn = PgConnection::connect(database).await.unwrap();
    loop {
        let left: Vec<(String, String, i64)> = sqlx::query_as(
            "select queue, (array['due', 'running', 'scheduled', 'doomed'])[state + 1], count(*) from queue.jobs group by queue, state
              union all
             select queue, 'dead', count(*) from queue.dead_jobs group by queue",
        )
        .fetch_all(&mut conn)
        .await
        .unwrap();
        if left
            .iter()
            .all(|(_, state, _)| state == "dead" || state == "scheduled")
            || Instant::now() > deadline
        {
            return left;
        }
        tokio::time::sleep(super::POLL).await;
    }
}
