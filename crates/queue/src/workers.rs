//! The processes that work on the queue, and what people call them: where each runs, and which program
//! it is. An id says nothing to them.

use std::{collections::HashMap, fmt};

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{BottleneckShare, bottleneck};

/// The longest text that is kept of each name, in characters. A host name may have 64, and the name
/// of a pod 253.
const LONGEST: usize = 253;

/// What a process says about itself. Older versions say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The machine, the container or the pod.
    pub host: Option<String>,
    /// Its number on that machine.
    pub pid: Option<i32>,
    /// What it does: `api`, `worker` or `up`.
    pub role: Option<String>,
    /// Where its metrics are.
    pub metrics_address: Option<String>,
    /// The version of its program.
    pub version: Option<String>,
    /// The most connections to Postgres that it opens.
    pub connections: Option<i32>,
}

impl Process {
    /// The same with names that can be shown anywhere: of bounded length, and in characters that
    /// are printed as they are.
    #[must_use]
    pub fn bounded(self) -> Self {
        let bounded = |name: Option<String>| name.map(|name| bounded(&name));
        Self {
            host: bounded(self.host),
            pid: self.pid,
            role: bounded(self.role),
            metrics_address: bounded(self.metrics_address),
            version: bounded(self.version),
            connections: self.connections,
        }
    }
}

fn bounded(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_graphic() || (c.is_alphanumeric() && !c.is_ascii());
    name.chars().filter(is_plain).take(LONGEST).collect()
}

impl fmt::Display for Process {
    /// For people: `worker on web-1, pid 4711, metrics at 10.1.0.7:9464, version 0.1.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            pid,
            role,
            metrics_address,
            version,
            connections: _,
        } = self;
        f.write_str(role.as_deref().unwrap_or("process"))?;
        match host {
            Some(host) => write!(f, " on {host}")?,
            None => f.write_str(" of an older version")?,
        }
        if let Some(pid) = pid {
            write!(f, ", pid {pid}")?;
        }
        if let Some(address) = metrics_address {
            write!(f, ", metrics at {address}")?;
        }
        if let Some(version) = version {
            write!(f, ", version {version}")?;
        }
        Ok(())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_names_that_people_can_read() {
        let process = Process {
            host: Some("web-1".into()),
            pid: Some(4_711),
            role: Some("worker".into()),
            metrics_address: Some("10.1.0.7:9464".into()),
            version: Some("0.1.0".into()),
            connections: Some(26),
        };
        assert_eq!(
            process.to_string(),
            "worker on web-1, pid 4711, metrics at 10.1.0.7:9464, version 0.1.0"
        );
        assert_eq!(
            Process::default().to_string(),
            "process of an older version"
        );
    }

    #[test]
    fn names_are_short_and_forge_no_lines() {
        let process = Process {
            host: Some(format!("a\n\u{1b}[2J\u{202e}\"é {}", "x".repeat(1_000))),
            ..Process::default()
        };
        let host = process.bounded().host.unwrap();
        assert!(host.starts_with("a[2J\"éxxx"), "{host}");
        assert_eq!(host.chars().count(), LONGEST);
    }
}
