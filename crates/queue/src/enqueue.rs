//! Enqueues jobs: many at once, inside the caller's transaction.

mod job;
mod jobs;

use sqlx::PgConnection;

pub(crate) use self::job::millis;
pub use self::job::{DEFAULT_MAX_ATTEMPTS, MAX_PAYLOAD, NewJob};
pub use self::jobs::{Columns, NewJobs};

/// The most jobs sent to the database at once.
const CHUNK: usize = 10_000;

/// Enqueues jobs in the caller's transaction, with one statement for every 10,000.
///
/// Call [`Queue::enqueued`](crate::Queue::enqueued) after the commit, so that workers start at
/// once. Otherwise they find the jobs when they poll.
pub async fn enqueue(conn: &mut PgConnection, jobs: &NewJobs) -> Result<(), sqlx::Error> {
    let columns = jobs.columns()?;
    for start in (0..jobs.len()).step_by(CHUNK) {
        let chunk = start..jobs.len().min(start + CHUNK);
        sqlx::query!(
            "select queue.enqueue($1, $2, $3, $4, $5, $6, $7, $8)",
            &columns.queues[chunk.clone()] as &[&str],
            &columns.groups[chunk.clone()],
            &columns.lanes[chunk.clone()],
            &columns.payloads[chunk.clone()],
            &columns.formats[chunk.clone()],
            &columns.priorities[chunk.clone()],
            &columns.delays_ms[chunk.clone()],
            &columns.max_attempts[chunk],
        )
        .fetch_one(&mut *conn)
        .await?;
    }
    Ok(())
}
