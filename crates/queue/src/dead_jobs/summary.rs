//! Dead jobs by queue, cause and error.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, QueryBuilder};

use super::Filter;
use crate::DeathCause;

/// Dead jobs with the same queue, cause and error.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Group {
    /// Their queue.
    pub queue: String,
    /// Why they died.
    pub cause: DeathCause,
    /// The error that they share.
    pub error: String,
    /// The number of jobs.
    pub jobs: i64,
    /// The number of lanes.
    pub lanes: i64,
    /// When the first of them was moved to `dead_jobs`.
    pub first_died_at: DateTime<Utc>,
    /// When the last of them was moved to `dead_jobs`.
    pub last_died_at: DateTime<Utc>,
}

/// The dead jobs that match by queue, cause and error, the largest group first, at most `limit`
/// groups. Takes time in proportion to the jobs, some seconds for a million.
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
