//! Whole queues: pauses, which hold for all processes, and how many groups and lanes
//! have exceptions.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{QueueName, enqueue::millis};

/// What holds a queue back, as a whole or in single groups and lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// Its name.
    pub queue: String,
    /// Whether the whole queue is paused.
    pub is_paused: bool,
    /// The end of the pause; `None` if it is not paused, or paused until it is resumed.
    pub paused_until: Option<DateTime<Utc>>,
    /// How many of its groups are paused.
    pub paused_groups: i64,
    /// How many of its groups have a cap of their own.
    pub capped_groups: i64,
    /// How many of its lanes are paused.
    pub paused_lanes: i64,
    /// How many of its lanes have a cap of their own.
    pub capped_lanes: i64,
}

/// Stops new claims from a queue for this long, by the database's clock; without a duration, until
/// [`resume`]. Running jobs go on, and so do jobs that a process has claimed and not started. A
/// longer existing pause stays.
pub async fn pause(
    conn: &mut PgConnection,
    queue: QueueName,
    duration: impl Into<Option<Duration>>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.queues as q (queue, paused_until)
         values ($1, coalesce(now() + $2::bigint * interval '1 millisecond', 'infinity'))
         on conflict (queue)
         do update set paused_until = greatest(q.paused_until, excluded.paused_until)",
        queue.as_str(),
        duration.into().map(millis),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Stops new claims from a queue until a time of the database's clock. A longer existing pause
/// stays.
pub async fn pause_until(
    conn: &mut PgConnection,
    queue: QueueName,
    until: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into queue.queues as q (queue, paused_until)
         values ($1, $2)
         on conflict (queue)
         do update set paused_until = greatest(q.paused_until, excluded.paused_until)",
        queue.as_str(),
        until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the pause of a queue, and returns whether there was one. Pauses of its groups and lanes
/// stay. Wake the queue after the commit; otherwise its jobs wait for the poll.
pub async fn resume(conn: &mut PgConnection, queue: QueueName) -> Result<bool, sqlx::Error> {
    let was_paused = sqlx::query_scalar!(
        r#"delete from queue.queues where queue = $1 returning paused_until > now() as "was_paused!""#,
        queue.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(was_paused == Some(true))
}

/// The queues that are held back in some way.
pub async fn restrictions(conn: &mut PgConnection) -> Result<Vec<Restrictions>, sqlx::Error> {
    sqlx::query_as!(
        Restrictions,
        r#"select queue as "queue!",
                q.queue is not null as "is_paused!",
                nullif(q.paused_until, 'infinity') as paused_until,
                coalesce(g.paused_groups, 0) as "paused_groups!",
                coalesce(g.capped_groups, 0) as "capped_groups!",
                coalesce(l.paused_lanes, 0) as "paused_lanes!",
                coalesce(l.capped_lanes, 0) as "capped_lanes!"
           from (select * from queue.queues where paused_until > now()) q
           full join (select queue,
                             count(*) filter (where paused_until > now()) as paused_lanes,
                             count(cap) as capped_lanes
                        from queue.lanes
                       where cap is not null or paused_until > now()
                       group by queue) l using (queue)
           full join (select queue,
                             count(*) filter (where paused_until > now()) as paused_groups,
                             count(cap) as capped_groups
                        from queue.groups
                       where cap is not null or paused_until > now()
                       group by queue) g using (queue)
          order by queue"#
    )
    .fetch_all(conn)
    .await
}
