//! The processes that work on the queue.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{BottleneckShare, Process, bottleneck};

/// A process with a valid lease.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// New at every start of a process.
    pub id: Uuid,
    /// What people call it.
    pub process: Process,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// How long its lease is valid if it is not renewed, in seconds.
    pub lease_left_seconds: f64,
    /// How many jobs it has claimed, started or not.
    pub running: i64,
    /// What held the jobs of its queues back in the last seconds. Older versions do not say it.
    pub bounds: Option<Vec<BottleneckShare>>,
}

/// The live workers, the oldest first. Takes time in proportion to the running jobs.
pub async fn living(conn: &mut PgConnection) -> Result<Vec<Worker>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select w.id, w.started_at, w.host, w.pid, w.role, w.metrics_address, w.version, w.connections,
                w.bounds::text as "bounds?",
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
    .await?;
    let workers = rows.into_iter().map(|row| Worker {
        id: row.id,
        process: Process {
            host: row.host,
            pid: row.pid,
            role: row.role,
            metrics_address: row.metrics_address,
            version: row.version,
            connections: row.connections,
        }
        .bounded(),
        started_at: row.started_at,
        lease_left_seconds: row.lease_left_seconds,
        running: row.running,
        bounds: row.bounds.as_deref().map(bottleneck::read),
    });
    Ok(workers.collect())
}

/// Processes by their ids, live or not, and when they started. The rows of those that died before
/// are gone.
pub(crate) async fn named(
    conn: &mut PgConnection,
    workers: &[Uuid],
) -> Result<HashMap<Uuid, (Process, DateTime<Utc>)>, sqlx::Error> {
    let rows = sqlx::query!(
        "select id, host, pid, role, metrics_address, version, connections, started_at
           from queue.workers
          where id = any ($1)",
        workers,
    )
    .fetch_all(conn)
    .await?;
    let named = rows.into_iter().map(|row| {
        let process = Process {
            host: row.host,
            pid: row.pid,
            role: row.role,
            metrics_address: row.metrics_address,
            version: row.version,
            connections: row.connections,
        };
        (row.id, (process.bounded(), row.started_at))
    });
    Ok(named.collect())
}

/// How many connections to Postgres all live processes together may open. Those of older versions do
/// not say it.
pub async fn wanted_connections(conn: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select coalesce(sum(connections), 0) as "wanted!" from queue.workers where expires_at > now()"#
    )
    .fetch_one(conn)
    .await
}
