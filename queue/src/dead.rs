//! Dead jobs: looking at them, running them again, forgetting them.

mod replay;

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, Postgres, QueryBuilder};

use crate::{DeathCause, Group as LaneGroup, JobId, Lane, enqueue::millis};

pub use replay::{Batch, Replay, replay};

/// Which dead jobs; every condition that is given must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// These.
    pub ids: Option<&'a [JobId]>,
    /// Of this queue.
    pub queue: Option<&'a str>,
    /// Of this group of lanes.
    pub group: Option<LaneGroup>,
    /// Of this lane.
    pub lane: Option<Lane>,
    /// Dead for this reason.
    pub cause: Option<DeathCause>,
    /// With this text in their error.
    pub error: Option<&'a str>,
    /// Dead before this.
    pub before: Option<Place>,
}

/// A place in the order of death. Jobs buried together died at the same time; their ids tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When.
    pub died_at: DateTime<Utc>,
    /// Which of them.
    pub id: JobId,
}

/// A job in `queue.dead_jobs`.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Buried {
    /// The id it had as a job.
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

impl Buried {
    /// Where it stands in the order of death.
    pub fn place(&self) -> Place {
        Place {
            died_at: self.died_at,
            id: self.id,
        }
    }
}

/// Dead jobs that have the same story.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Group {
    /// Their queue.
    pub queue: String,
    /// Why they died.
    pub cause: DeathCause,
    /// The error that they share.
    pub error: String,
    /// How many they are.
    pub jobs: i64,
    /// In how many lanes.
    pub lanes: i64,
    /// When the first of them was buried.
    pub first_died_at: DateTime<Utc>,
    /// When the last was.
    pub last_died_at: DateTime<Utc>,
}

impl Filter<'_> {
    fn push(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(ids) = self.ids {
            query.push(" and id = any (").push_bind(ids).push(")");
        }
        if let Some(queue) = self.queue {
            query.push(" and queue = ").push_bind(queue);
        }
        if let Some(group) = self.group {
            query.push(" and grp = ").push_bind(group);
        }
        if let Some(lane) = self.lane {
            query.push(" and lane = ").push_bind(lane);
        }
        if let Some(cause) = self.cause {
            query.push(" and cause = ").push_bind(cause.as_str());
        }
        if let Some(error) = self.error {
            query
                .push(" and strpos(error, ")
                .push_bind(error)
                .push(") > 0");
        }
        if let Some(before) = self.before {
            query.push(" and (died_at, id) < (");
            query.push_bind(before.died_at).push(", ");
            query.push_bind(before.id).push(")");
        }
    }
}

/// The dead jobs that match, the latest first, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<Buried>, sqlx::Error> {
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

/// The dead jobs that match by queue, cause and error, the largest group first, at most `limit` groups. Takes
/// time in proportion to the jobs, some seconds for a million.
pub async fn summary(
    conn: &mut PgConnection,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<Group>, sqlx::Error> {
    let mut query = QueryBuilder::new(
        "select queue, cause, error, count(*) as jobs, count(distinct lane) as lanes,
                min(died_at) as first_died_at, max(died_at) as last_died_at
           from queue.dead_jobs
          where true",
    );
    filter.push(&mut query);
    query
        .push(
            " group by queue, cause, error
              order by jobs desc, queue, cause, error
              limit ",
        )
        .push_bind(i64::from(limit))
        .build_query_as()
        .persistent(false)
        .fetch_all(conn)
        .await
}

/// Deletes jobs that have been dead for longer than `age`, the longest dead first, at most `limit`. Returns how
/// many; call it until it returns 0.
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
