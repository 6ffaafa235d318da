//! Dead jobs: list them, run them again, delete them.

mod filter;
mod replay;
mod summary;

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, QueryBuilder};

use crate::{DeathCause, Group as LaneGroup, JobId, Lane, enqueue::millis};

pub use filter::{Filter, Place};
pub use replay::{Batch, Replay, replay};
pub use summary::{Group, summary};

/// A job in `queue.dead_jobs`.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct DeadJobRecord {
    /// The id that it had as a job.
    pub id: JobId,
    /// Its queue.
    pub queue: String,
    /// Its group.
    #[sqlx(rename = "grp")]
    pub group: LaneGroup,
    /// Its lane.
    pub lane: Lane,
    /// Charged attempts.
    pub attempt: i16,
    /// How many attempts it had.
    pub max_attempts: i16,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When it was moved to `dead_jobs`.
    pub died_at: DateTime<Utc>,
    /// Why it died.
    pub cause: DeathCause,
    /// The last error, at most 2 KB.
    pub error: String,
    /// Its arguments, as JSON.
    pub payload: String,
}

impl DeadJobRecord {
    /// Its place in the order of death.
    pub fn place(&self) -> Place {
        Place {
            died_at: self.died_at,
            id: self.id,
        }
    }
}

/// The dead jobs that match, the latest first, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<DeadJobRecord>, sqlx::Error> {
    let mut query = QueryBuilder::new(
        "select id, queue, grp, lane, attempt, max_attempts, created_at, died_at, cause, error,
                payload::text as payload
           from queue.dead_jobs
          where true",
    );
    filter.push(&mut query);
    query
        .push(" order by died_at desc, id desc limit ")
        .push_bind(i64::from(limit))
        .build_query_as()
        .persistent(false)
        .fetch_all(conn)
        .await
}

/// How many dead jobs match. Takes time in proportion to them.
pub async fn count(conn: &mut PgConnection, filter: Filter<'_>) -> Result<u64, sqlx::Error> {
    let mut query = QueryBuilder::new("select count(*) from queue.dead_jobs where true");
    filter.push(&mut query);
    let count: i64 = query
        .build_query_scalar()
        .persistent(false)
        .fetch_one(conn)
        .await?;
    Ok(count.unsigned_abs())
}

/// Deletes jobs that have been dead for longer than `age`, the longest dead first, at most `limit`.
/// Returns how many. Call it until it returns 0.
pub async fn purge(conn: &mut PgConnection, age: Duration, limit: u32) -> Result<u64, sqlx::Error> {
    let purged = sqlx::query!(
        "delete from queue.dead_jobs
          where id in (select id
                         from queue.dead_jobs
                        where died_at < now() - $1::bigint * interval '1 millisecond'
                        order by died_at
                        limit $2
                          for update skip locked)",
        millis(age),
        i64::from(limit),
    )
    .execute(conn)
    .await?;
    Ok(purged.rows_affected())
}
