//! The processes that work on the queue.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

/// A process with a valid lease.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// New at every start of a process.
    pub id: Uuid,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// How long its lease is valid if it is not renewed, in seconds.
    pub lease_left_seconds: f64,
    /// How many jobs it has claimed, started or not.
    pub running: i64,
}

/// The live workers, the oldest first. Takes time in proportion to the running jobs.
pub async fn living(conn: &mut PgConnection) -> Result<Vec<Worker>, sqlx::Error> {
    sqlx::query_as!(
        Worker,
        r#"select w.id, w.started_at,
                extract(epoch from w.expires_at - now())::float8 as "lease_left_seconds!",
                coalesce(r.running, 0) as "running!"
           from queue.workers w
           left join (select locked_by, count(*) as running
                        from queue.jobs
                       where state = 1
                       group by locked_by) r on r.locked_by = w.id
          where w.expires_at > now()
          order by w.started_at, w.id"#
    )
    .fetch_all(conn)
    .await
}
