//! Dead jobs: looking at them, running them again, forgetting them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{DeathCause, JobId, Lane, enqueue::millis};

/// Which dead jobs; every condition that is given must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// These.
    pub ids: Option<&'a [JobId]>,
    /// Of this queue.
    pub queue: Option<&'a str>,
    /// With this text in their error.
    pub error: Option<&'a str>,
}

/// A job in `queue.dead_jobs`.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Buried {
    /// The id it had as a job.
    pub id: JobId,
    /// Its queue.
    pub queue: String,
    /// Its lane.
    pub lane: Lane,
    /// Charged attempts.
    pub attempt: i16,
    /// How many it had.
    pub max_attempts: i16,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When it was buried.
    pub died_at: DateTime<Utc>,
    /// Why it died.
    pub cause: DeathCause,
    /// The last error, at most 2 KB.
    pub error: String,
    /// Its arguments, as JSON.
    pub payload: String,
}

/// The dead jobs that match, the latest first, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<Buried>, sqlx::Error> {
    sqlx::query_as(
        "select id, queue, lane, attempt, max_attempts, created_at, died_at, cause, error,
                payload::text as payload
           from queue.dead_jobs
          where ($1::bigint[] is null or id = any ($1))
            and ($2::text is null or queue = $2)
            and ($3::text is null or strpos(error, $3) > 0)
          order by died_at desc
          limit $4",
    )
    .bind(filter.ids)
    .bind(filter.queue)
    .bind(filter.error)
    .bind(i64::from(limit))
    .fetch_all(conn)
    .await
}

/// Enqueues dead jobs that match again, the longest dead first, at most `limit`: due at once, no attempt
/// spent, under new ids. Returns how many; call it until it returns 0 to replay all.
pub async fn replay(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<u64, sqlx::Error> {
    let replayed = sqlx::query(
        "with chosen as (
             select id
               from queue.dead_jobs
              where ($1::bigint[] is null or id = any ($1))
                and ($2::text is null or queue = $2)
                and ($3::text is null or strpos(error, $3) > 0)
              order by died_at
              limit $4
                for update skip locked
         ),
         gone as (
             delete from queue.dead_jobs d using chosen c where d.id = c.id returning d.*
         )
         insert into queue.jobs (queue, lane, payload, priority, max_attempts)
         select queue, lane, payload, priority, max_attempts from gone",
    )
    .bind(filter.ids)
    .bind(filter.queue)
    .bind(filter.error)
    .bind(i64::from(limit))
    .execute(conn)
    .await?;
    Ok(replayed.rows_affected())
}

/// Deletes jobs that have been dead for longer than `age`, the longest dead first, at most `limit`. Returns how
/// many; call it until it returns 0.
pub async fn purge(conn: &mut PgConnection, age: Duration, limit: u32) -> Result<u64, sqlx::Error> {
    let purged = sqlx::query(
        "delete from queue.dead_jobs
          where id in (select id
                         from queue.dead_jobs
                        where died_at < now() - $1 * interval '1 millisecond'
                        order by died_at
                        limit $2
                          for update skip locked)",
    )
    .bind(millis(age))
    .bind(i64::from(limit))
    .execute(conn)
    .await?;
    Ok(purged.rows_affected())
}
