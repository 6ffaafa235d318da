//! Pauses of a lane.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{Lane, QueueName, enqueue::millis};

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
