//! Fills the queue with jobs that nobody works on yet.

use std::time::Duration;

use queue::{NewJob, NewJobs};
use sqlx::PgConnection;

use crate::{driver::QUEUE, lane::lane};

/// Jobs to a statement.
const CHUNK: usize = 5_000;

/// Enqueues a job in each of the lanes that are named by number, in that order.
pub(crate) async fn fill(
    conn: &mut PgConnection,
    lanes: impl IntoIterator<Item = u64>,
    delay: Duration,
) -> anyhow::Result<()> {
    let mut lanes = lanes.into_iter().peekable();
    while lanes.peek().is_some() {
        let chunk = lanes.by_ref().take(CHUNK);
        let jobs: NewJobs = chunk
            .map(|number| NewJob::new(QUEUE, lane(number), &serde_json::json!({ "n": number })))
            .map(|job| job.delay(delay))
            .collect();
        queue::enqueue(conn, &jobs).await?;
    }
    Ok(())
}

/// Empties the queue and all that is known about its lanes.
pub(crate) async fn empty(conn: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::query("truncate queue.jobs, queue.dead_jobs, queue.lanes")
        .execute(&mut *conn)
        .await?;
    sqlx::query("checkpoint").execute(conn).await?;
    Ok(())
}

/// Describes the queue to the planner, and cleans it up if asked to.
pub(crate) async fn analyze(conn: &mut PgConnection, clean: bool) -> anyhow::Result<()> {
    let statement = if clean {
        "vacuum analyze queue.jobs"
    } else {
        "analyze queue.jobs"
    };
    sqlx::query(statement).execute(&mut *conn).await?;
    sqlx::query("checkpoint").execute(conn).await?;
    Ok(())
}
