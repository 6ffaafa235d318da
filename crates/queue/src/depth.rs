//! The depth of the queues, and its gauges.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ::metrics::gauge;
use sqlx::PgConnection;

use crate::{
    QueueName,
    metrics::{
        QUEUE_JOBS, QUEUE_OLDEST_DUE, QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT,
        QUEUE_RUNNABLE, QUEUE_STATS_AT,
    },
    shared::Shared,
};

/// The states that are shown.
const STATES: [&str; 4] = ["due", "scheduled", "running", "dead"];

/// The depth of one queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueStats {
    /// Its name.
    pub queue: String,
    /// Jobs whose time has come.
    pub due: i64,
    /// The due jobs that could run now: their queue, group and lane are not paused, and the caps
    /// leave room. More workers would help.
    pub runnable: i64,
    /// Jobs that wait for their time: delayed jobs and retries.
    pub scheduled: i64,
    /// Jobs claimed, started or not.
    pub running: i64,
    /// Jobs in `dead_jobs`, and doomed jobs.
    pub dead: i64,
    /// How long the oldest due job has been due, in seconds; 0 if there is none.
    pub oldest_due_seconds: f64,
    /// How long the oldest due job has been due, in seconds, of the lanes that no pause or cap holds
    /// back; 0 if there is none. More workers would not help the others.
    pub oldest_runnable_seconds: f64,
}

/// The depth of every queue that has a job, including dead jobs. `lane_caps` and `group_caps` have
/// the queues whose lanes or groups have a default cap.
///
/// Takes time in proportion to the jobs, up to a second for a million scheduled ones on a busy
/// server. So read it about every ten seconds, in one or two processes.
pub async fn read(
    conn: &mut PgConnection,
    lane_caps: &[(QueueName, u32)],
    group_caps: &[(QueueName, u32)],
) -> Result<Vec<QueueStats>, sqlx::Error> {
    let columns = |caps: &[(QueueName, u32)]| -> (Vec<&str>, Vec<i64>) {
        caps.iter()
            .map(|(queue, cap)| (queue.as_str(), i64::from(*cap)))
            .unzip()
    };
    let (lane_queues, lane_caps) = columns(lane_caps);
    let (group_queues, group_caps) = columns(group_caps);
    sqlx::query_as!(
        QueueStats,
        r#"with lanes as (
             select queue, grp, lane, sum(due)::bigint as due, sum(running)::bigint as running,
                    min(oldest) as oldest
               from (select queue, grp, lane, count(*) as due, 0 as running, min(run_at) as oldest
                       from queue.jobs
                      where state = 0 and gen = any ((select queue.live_generations())::integer[])
                      group by queue, grp, lane
                      union all
                     select queue, grp, lane, 0, count(*), null
                       from queue.jobs
                      where state = 1 and gen = any ((select queue.live_generations())::integer[])
                      group by queue, grp, lane) as counts
              group by queue, grp, lane
         ),
         in_lanes as (
             select c.queue, c.grp, c.due, c.running, c.oldest,
                    case when q.paused_until > now() or l.paused_until > now() then 0
                         else least(c.due, greatest(0, coalesce(l.cap, d.cap, c.due + c.running) - c.running))
                    end as runnable
               from lanes c
               left join queue.queues q on q.queue = c.queue
               left join queue.lanes l on l.queue = c.queue and l.lane = c.lane
               left join unnest($1::text[], $2::bigint[]) as d (queue, cap) on d.queue = c.queue
         ),
         in_groups as (
             select queue, grp, sum(due) as due, sum(running) as running, sum(runnable) as runnable, min(oldest) as oldest,
                    min(oldest) filter (where runnable = due) as oldest_open
               from in_lanes
              group by queue, grp
         ),
         active as (
             select c.queue, c.due, c.running, c.oldest, c.oldest_open, c.runnable as open,
                    case when g.paused_until > now() then 0
                         else least(c.runnable, greatest(0, coalesce(g.cap, d.cap, c.due + c.running) - c.running))
                    end as runnable
               from in_groups c
               left join queue.groups g on g.queue = c.queue and g.grp = c.grp
               left join unnest($3::text[], $4::bigint[]) as d (queue, cap) on d.queue = c.queue
         )
         select queue as "queue!",
                sum(due)::bigint as "due!",
                sum(runnable)::bigint as "runnable!",
                sum(scheduled)::bigint as "scheduled!",
                sum(running)::bigint as "running!",
                sum(dead)::bigint as "dead!",
                coalesce(max(oldest), 0)::float8 as "oldest_due_seconds!",
                coalesce(max(oldest_runnable), 0)::float8 as "oldest_runnable_seconds!"
           from (select queue, sum(due) as due, sum(runnable) as runnable, 0 as scheduled,
                        sum(running) as running, 0 as dead,
                        extract(epoch from now() - min(oldest)) as oldest,
                        extract(epoch from now() - min(oldest_open) filter (where runnable = open)) as oldest_runnable
                   from active group by queue
                  union all
                 select queue, 0, 0, count(*) filter (where state = 2), 0,
                        count(*) filter (where state = 3), null, null
                   from queue.jobs where state >= 2 group by queue
                  union all
                 select queue, 0, 0, 0, 0, count(*), null, null
                   from queue.dead_jobs group by queue) as counts
          group by queue
          order by queue"#,
        &lane_queues as &[&str],
        &lane_caps,
        &group_queues as &[&str],
        &group_caps,
    )
    .fetch_all(conn)
    .await
}

/// The gauges of the queues' depth, published by the two oldest processes.
///
/// NaN means "no value": the metrics page leaves it out. A number from the past, or
/// a zero, would be taken for true.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// The queues that were reported before. A queue that has become empty must be reported as
    /// empty.
    reported: BTreeSet<String>,
    /// When the numbers that are shown were read.
    read: Option<Instant>,
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
        let mut stats: BTreeMap<String, QueueStats> =
            read(conn, shared.config.lane_caps, shared.config.group_caps)
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
            show(stats, read_at);
        }
        gauge!(QUEUE_STATS_AT).set(read_at);
        self.read = Some(Instant::now());
        self.reported.extend(stats.into_keys());
        Ok(())
    }

    /// Shows no numbers any more if they are older than this. The times stay: they show how old
    /// everything is.
    pub(crate) fn expire(&mut self, age: Duration) {
        if self.read.is_some_and(|read| read.elapsed() > age) {
            self.show_no_depth();
        }
    }

    /// Shows nothing any more, because other processes publish from now on.
    pub(crate) fn forget(&mut self) {
        self.show_no_depth();
        for queue in &self.reported {
            for times in [QUEUE_OLDEST_DUE_AT, QUEUE_OLDEST_RUNNABLE_AT] {
                gauge!(times, "queue" => queue.clone()).set(f64::NAN);
            }
        }
        gauge!(QUEUE_STATS_AT).set(f64::NAN);
    }

    fn show_no_depth(&mut self) {
        self.read = None;
        for queue in &self.reported {
            set(queue, [f64::NAN; STATES.len()], f64::NAN);
            gauge!(QUEUE_OLDEST_DUE, "queue" => queue.clone()).set(f64::NAN);
        }
    }
}

/// What was read of a queue, at this Unix time.
fn show(stats: &QueueStats, read_at: f64) {
    let jobs = [stats.due, stats.scheduled, stats.running, stats.dead];
    set(&stats.queue, jobs.map(count), count(stats.runnable));
    gauge!(QUEUE_OLDEST_DUE, "queue" => stats.queue.clone()).set(stats.oldest_due_seconds);
    gauge!(QUEUE_OLDEST_DUE_AT, "queue" => stats.queue.clone())
        .set(read_at - stats.oldest_due_seconds);
    gauge!(QUEUE_OLDEST_RUNNABLE_AT, "queue" => stats.queue.clone())
        .set(read_at - stats.oldest_runnable_seconds);
}

fn set(queue: &str, jobs: [f64; STATES.len()], runnable: f64) {
    for (state, jobs) in STATES.into_iter().zip(jobs) {
        gauge!(QUEUE_JOBS, "queue" => queue.to_owned(), "state" => state).set(jobs);
    }
    gauge!(QUEUE_RUNNABLE, "queue" => queue.to_owned()).set(runnable);
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a gauge is a float; no queue nears 2^53 jobs"
)]
fn count(jobs: i64) -> f64 {
    jobs as f64
}

#[cfg(test)]
mod tests;
