//! Single lanes: their pauses and caps, which hold for all processes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{Group, Lane, QueueName, enqueue::millis};

/// A lane of a queue, and what holds it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneStats {
    /// Its queue.
    pub queue: String,
    /// The lane.
    pub lane: Lane,
    /// Jobs that could run now without its pause and its cap.
    pub due: i64,
    /// Jobs claimed, started or not.
    pub running: i64,
    /// How many may run at once; `None` if the queue's default applies.
    pub cap: Option<i32>,
    /// Whether it is paused.
    pub is_paused: bool,
    /// The end of the pause; `None` if it is not paused, or paused until it is resumed.
    pub paused_until: Option<DateTime<Utc>>,
}

/// Stops new claims from a lane for this long, by the database's clock; without a duration, until
/// [`resume`]. Running jobs go on, and so do jobs that a process has claimed and not started. A
/// longer existing pause stays.
pub async fn pause(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    duration: impl Into<Option<Duration>>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.lanes as l (queue, lane, paused_until)
         values ($1, $2, coalesce(now() + $3::bigint * interval '1 millisecond', 'infinity'))
         on conflict (queue, lane)
         do update set paused_until = greatest(l.paused_until, excluded.paused_until)",
        queue.as_str(),
        lane.0,
        duration.into().map(millis),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Stops new claims from a lane until a time of the database's clock.
pub async fn pause_until(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    until: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.lanes as l (queue, lane, paused_until)
         values ($1, $2, $3)
         on conflict (queue, lane)
         do update set paused_until = greatest(l.paused_until, excluded.paused_until)",
        queue.as_str(),
        lane.0,
        until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the pause of a lane, and returns whether there was one. Wake the queue after the commit;
/// otherwise its jobs wait for the poll.
pub async fn resume(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
) -> Result<bool, sqlx::Error> {
    let resumed = sqlx::query!(
        "update queue.lanes set paused_until = null
          where queue = $1 and lane = $2 and paused_until > now()",
        queue.as_str(),
        lane.0,
    )
    .execute(conn)
    .await?;
    Ok(resumed.rows_affected() > 0)
}

/// Ends a pause of a lane that would end by then. Keeps a longer pause, which somebody else wants.
/// Wake the queue after the commit; otherwise its jobs wait for the poll.
pub async fn resume_before(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    until: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update queue.lanes set paused_until = null
          where queue = $1 and lane = $2 and paused_until > now() and paused_until <= $3",
        queue.as_str(),
        lane.0,
        until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes scheduled jobs of a lane due now, at most `at_most`, and returns how many. They run in the
/// order in which they were enqueued. Wake the queue after the commit; otherwise they wait for the
/// poll.
pub async fn hasten(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    at_most: u32,
) -> Result<u64, sqlx::Error> {
    let hastened = sqlx::query!(
        "update queue.jobs
            set state = 0, gen = (select queue.enter_generation()), run_at = now()
          where id = any (array(
                    select id from queue.jobs
                     where queue = $1 and lane = $2 and state = 2
                     order by run_at
                     limit $3
                       for update skip locked))",
        queue.as_str(),
        lane.0,
        i64::from(at_most),
    )
    .execute(conn)
    .await?;
    Ok(hastened.rows_affected())
}

/// Sets how many jobs of a lane may run at once, instead of the queue's default. `None` restores
/// the default.
pub async fn set_cap(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    cap: Option<u32>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.lanes (queue, lane, cap)
         values ($1, $2, $3)
         on conflict (queue, lane) do update set cap = excluded.cap",
        queue.as_str(),
        lane.0,
        cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The state of one lane. Takes time in proportion to the due jobs of its queue.
pub async fn read(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
) -> Result<LaneStats, sqlx::Error> {
    sqlx::query_as!(
        LaneStats,
        r#"select $1::text as "queue!", $2::uuid as "lane!: Lane",
                (select count(*) from queue.jobs
                  where queue = $1 and lane = $2 and state = 0
                    and gen = any ((select queue.live_generations())::integer[])) as "due!",
                (select count(*) from queue.jobs
                  where queue = $1 and lane = $2 and state = 1
                    and gen = any ((select queue.live_generations())::integer[])) as "running!",
                l.cap,
                coalesce(l.paused_until > now(), false) as "is_paused!",
                case when l.paused_until > now()
                     then nullif(l.paused_until, 'infinity') end as paused_until
           from (select) as one
           left join queue.lanes l on l.queue = $1 and l.lane = $2"#,
        queue.as_str(),
        lane.0,
    )
    .fetch_one(conn)
    .await
}

/// How many jobs of a lane of a group are due, whether paused or capped or not. At most `at_most`
/// are counted.
pub async fn due(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
    lane: Lane,
    at_most: i64,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select count(*) as "due!"
           from (select from queue.jobs
                  where queue = $1 and grp = any ($2) and lane = $3 and state = 0
                    and gen = any ((select queue.live_generations())::integer[])
                  limit $4) as due"#,
        queue.as_str(),
        // Older binaries enqueue into a group of the lane's own.
        &[group.0, lane.0],
        lane.0,
        at_most,
    )
    .fetch_one(conn)
    .await
}

/// The lanes that are paused or capped, and the `busiest` ones with the most due jobs, sorted by
/// due jobs; at most `limit`. Takes time in proportion to the due and running jobs, up to a second
/// for a million.
pub async fn list(
    conn: &mut PgConnection,
    busiest: u32,
    limit: u32,
) -> Result<Vec<LaneStats>, sqlx::Error> {
    sqlx::query_as!(
        LaneStats,
        r#"with exceptions as (
             select queue, lane, cap, paused_until > now() as is_paused, paused_until
               from queue.lanes
              where cap is not null or paused_until > now()
         ),
         counts as (
             select queue, lane,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where state in (0, 1)
              group by queue, lane
         ),
         ranked as (
             select *, row_number() over (order by due desc, queue, lane) as rank from counts
         )
         select queue as "queue!", lane as "lane!: Lane",
                coalesce(r.due, 0) as "due!",
                coalesce(r.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until
           from exceptions e
           full join ranked r using (queue, lane)
          where e.lane is not null or (r.rank <= $1 and r.due > 0)
          order by coalesce(r.due, 0) desc, queue, lane
          limit $2"#,
        i64::from(busiest),
        i64::from(limit),
    )
    .fetch_all(conn)
    .await
}

/// The lanes of a queue that have due or running jobs, a pause or a cap: those with the most due
/// jobs first, at most `limit`. Also returns how many there are in all. Takes time in proportion to
/// the due and running jobs of the queue.
pub async fn busiest(
    conn: &mut PgConnection,
    queue: &str,
    limit: u32,
) -> Result<(Vec<LaneStats>, i64), sqlx::Error> {
    let rows = sqlx::query!(
        r#"with exceptions as (
             select lane, cap, paused_until > now() as is_paused, paused_until
               from queue.lanes
              where queue = $1 and (cap is not null or paused_until > now())
         ),
         counts as (
             select lane,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where queue = $1 and state in (0, 1)
              group by lane
         )
         select lane as "lane!: Lane",
                coalesce(c.due, 0) as "due!",
                coalesce(c.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until,
                count(*) over () as "total!"
           from exceptions e
           full join counts c using (lane)
          order by coalesce(c.due, 0) desc, lane
          limit $2"#,
        queue,
        i64::from(limit),
    )
    .fetch_all(conn)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let lanes = rows.into_iter().map(|row| LaneStats {
        queue: queue.to_owned(),
        lane: row.lane,
        due: row.due,
        running: row.running,
        cap: row.cap,
        is_paused: row.is_paused,
        paused_until: row.paused_until,
    });
    Ok((lanes.collect(), total))
}
