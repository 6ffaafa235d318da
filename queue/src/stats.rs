//! How much waits in the queues.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{SystemTime, UNIX_EPOCH},
};

use sqlx::PgConnection;

use crate::{handle::Shared, metrics};

/// The depth of one queue.
#[derive(Clone, Debug, Default, PartialEq, sqlx::FromRow)]
pub struct QueueStats {
    /// Its name.
    pub queue: String,
    /// Jobs that could run now.
    pub due: i64,
    /// Jobs that wait for their time: delayed ones and retries.
    pub scheduled: i64,
    /// Jobs claimed, started or not.
    pub running: i64,
    /// Jobs in `dead_jobs`, and those about to be.
    pub dead: i64,
    /// How long the oldest due job has been due, in seconds; 0 without one.
    pub oldest_due_seconds: f64,
}

/// The depth of every queue that has a job, dead ones included.
///
/// Takes time in proportion to the jobs, up to a second for a million scheduled ones on a busy server: read it every
/// ten seconds or so, by one or two processes.
pub async fn read(conn: &mut PgConnection) -> Result<Vec<QueueStats>, sqlx::Error> {
    sqlx::query_as(
        "select queue,
                sum(due)::bigint as due,
                sum(scheduled)::bigint as scheduled,
                sum(running)::bigint as running,
                sum(dead)::bigint as dead,
                coalesce(max(oldest), 0)::float8 as oldest_due_seconds
           from (select queue, count(*) as due, 0 as scheduled, 0 as running, 0 as dead,
                        extract(epoch from now() - min(run_at)) as oldest
                   from queue.jobs
                  where state = 0 and gen = any ((select queue.live_generations())::integer[])
                  group by queue
                  union all
                 select queue, 0, 0, count(*), 0, null
                   from queue.jobs
                  where state = 1 and gen = any ((select queue.live_generations())::integer[])
                  group by queue
                  union all
                 select queue, 0, count(*) filter (where state = 2), 0,
                        count(*) filter (where state = 3), null
                   from queue.jobs where state >= 2 group by queue
                  union all
                 select queue, 0, 0, 0, count(*), null
                   from queue.dead_jobs group by queue) as counts
          group by queue
          order by queue",
    )
    .fetch_all(conn)
    .await
}

/// The gauges of the queues' depth, kept by the two eldest processes.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// The queues that were reported before: one that has emptied since must say so.
    reported: BTreeSet<String>,
}

impl Gauges {
    pub(crate) async fn publish(
        &mut self,
        conn: &mut PgConnection,
        shared: &Shared,
    ) -> Result<(), sqlx::Error> {
        let known = shared.config.queues.iter().copied();
        let known = known.chain(shared.known_queues());
        self.reported
            .extend(known.map(|queue| queue.as_str().to_owned()));
        let mut stats: BTreeMap<String, QueueStats> = read(conn)
            .await?
            .into_iter()
            .map(|stats| (stats.queue.clone(), stats))
            .collect();
        for queue in &self.reported {
            let empty = || QueueStats {
                queue: queue.clone(),
                ..QueueStats::default()
            };
            stats.entry(queue.clone()).or_insert_with(empty);
        }
        let read_at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();
        for stats in stats.values() {
            metrics::depth(stats, Some(read_at));
        }
        metrics::read_at(Some(read_at));
        self.reported.extend(stats.into_keys());
        Ok(())
    }

    /// Leaves no old figures behind when other processes publish them.
    pub(crate) fn forget(&self) {
        for queue in &self.reported {
            let nothing = QueueStats {
                queue: queue.clone(),
                ..QueueStats::default()
            };
            metrics::depth(&nothing, None);
        }
        metrics::read_at(None);
    }
}
