//! Single groups of lanes: their pauses and caps, which hold for all processes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{Group, QueueName, enqueue::millis};

/// A group of a queue, and what holds it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupStats {
    /// Its queue.
    pub queue: String,
    /// The group.
    pub group: Group,
    /// Jobs that could run now without pauses and caps.
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

/// Stops new claims from all lanes of a group for this long, by the database's clock; without a
/// duration, until [`resume`]. Running jobs go on, and so do jobs that a process has claimed and
/// not started. A longer existing pause stays.
pub async fn pause(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
    duration: impl Into<Option<Duration>>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.groups as g (queue, grp, paused_until)
         values ($1, $2, coalesce(now() + $3::bigint * interval '1 millisecond', 'infinity'))
         on conflict (queue, grp)
         do update set paused_until = greatest(g.paused_until, excluded.paused_until)",
        queue.as_str(),
        group.0,
        duration.into().map(millis),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Stops new claims from all lanes of a group until a time of the database's clock. A longer existing
/// pause stays.
pub async fn pause_until(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
    until: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.groups as g (queue, grp, paused_until)
         values ($1, $2, $3)
         on conflict (queue, grp)
         do update set paused_until = greatest(g.paused_until, excluded.paused_until)",
        queue.as_str(),
        group.0,
        until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the pause of a group, and returns whether there was one. Pauses of its lanes stay. Wake the
/// queue after the commit; otherwise its jobs wait for the poll.
pub async fn resume(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
) -> Result<bool, sqlx::Error> {
    let resumed = sqlx::query!(
        "update queue.groups set paused_until = null
          where queue = $1 and grp = $2 and paused_until > now()",
        queue.as_str(),
        group.0,
    )
    .execute(conn)
    .await?;
    Ok(resumed.rows_affected() > 0)
}

/// Sets how many jobs of a group may run at once, instead of the queue's default. `None` restores
/// the default. Each claim that meets a capped group counts what runs in it, and no two claims take
/// from it at the same time.
pub async fn set_cap(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
    cap: Option<u32>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.groups (queue, grp, cap)
         values ($1, $2, $3)
         on conflict (queue, grp) do update set cap = excluded.cap",
        queue.as_str(),
        group.0,
        cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The state of one group. Takes time in proportion to its due jobs, and to all running jobs of the
/// queue.
pub async fn read(
    conn: &mut PgConnection,
    queue: QueueName,
    group: Group,
) -> Result<GroupStats, sqlx::Error> {
    sqlx::query_as!(
        GroupStats,
        r#"select $1::text as "queue!", $2::uuid as "group!: Group",
                (select count(*) from queue.jobs
                  where queue = $1 and grp = $2 and state = 0
                    and gen = any ((select queue.live_generations())::integer[])) as "due!",
                (select count(*) from queue.jobs
                  where queue = $1 and grp = $2 and state = 1
                    and gen = any ((select queue.live_generations())::integer[])) as "running!",
                g.cap,
                coalesce(g.paused_until > now(), false) as "is_paused!",
                case when g.paused_until > now()
                     then nullif(g.paused_until, 'infinity') end as paused_until
           from (select) as one
           left join queue.groups g on g.queue = $1 and g.grp = $2"#,
        queue.as_str(),
        group.0,
    )
    .fetch_one(conn)
    .await
}

/// The groups that are paused or capped, and the `busiest` ones with the most due jobs, sorted by
/// due jobs; at most `limit`. Takes time in proportion to the due and running jobs, up to a second
/// for a million.
pub async fn list(
    conn: &mut PgConnection,
    busiest: u32,
    limit: u32,
) -> Result<Vec<GroupStats>, sqlx::Error> {
    sqlx::query_as!(
        GroupStats,
        r#"with exceptions as (
             select queue, grp, cap, paused_until > now() as is_paused, paused_until
               from queue.groups
              where cap is not null or paused_until > now()
         ),
         counts as (
             select queue, grp,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where state in (0, 1)
              group by queue, grp
         ),
         ranked as (
             select *, row_number() over (order by due desc, queue, grp) as rank from counts
         )
         select queue as "queue!", grp as "group!: Group",
                coalesce(r.due, 0) as "due!",
                coalesce(r.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until
           from exceptions e
           full join ranked r using (queue, grp)
          where e.grp is not null or (r.rank <= $1 and r.due > 0)
          order by coalesce(r.due, 0) desc, queue, grp
          limit $2"#,
        i64::from(busiest),
        i64::from(limit),
    )
    .fetch_all(conn)
    .await
}

/// The groups of a queue that have due or running jobs, a pause or a cap: those with the most due
/// jobs first, at most `limit`. Also returns how many there are in all. Takes time in proportion to
/// the due and running jobs of the queue.
pub async fn busiest(
    conn: &mut PgConnection,
    queue: &str,
    limit: u32,
) -> Result<(Vec<GroupStats>, i64), sqlx::Error> {
    let rows = sqlx::query!(
        r#"with exceptions as (
             select grp, cap, paused_until > now() as is_paused, paused_until
               from queue.groups
              where queue = $1 and (cap is not null or paused_until > now())
         ),
         counts as (
             select grp,
                    count(*) filter (where state = 0) as due,
                    count(*) filter (where state = 1) as running
               from queue.jobs
              where queue = $1 and state in (0, 1)
              group by grp
         )
         select grp as "group!: Group",
                coalesce(c.due, 0) as "due!",
                coalesce(c.running, 0) as "running!",
                e.cap,
                coalesce(e.is_paused, false) as "is_paused!",
                case when e.is_paused then nullif(e.paused_until, 'infinity') end as paused_until,
                count(*) over () as "total!"
           from exceptions e
           full join counts c using (grp)
          order by coalesce(c.due, 0) desc, grp
          limit $2"#,
        queue,
        i64::from(limit),
    )
    .fetch_all(conn)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let groups = rows.into_iter().map(|row| GroupStats {
        queue: queue.to_owned(),
        group: row.group,
        due: row.due,
        running: row.running,
        cap: row.cap,
        is_paused: row.is_paused,
        paused_until: row.paused_until,
    });
    Ok((groups.collect(), total))
}
