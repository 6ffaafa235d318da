//! The depth of the queues.

use sqlx::PgConnection;

use crate::QueueName;

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
