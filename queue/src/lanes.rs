//! Exceptions for single lanes: pauses and caps, which hold for all processes at once.

use std::time::Duration;

use sqlx::PgConnection;

use crate::{Lane, QueueName, enqueue::millis};

/// Stops new claims from a lane for this long, counted by the database's clock. Running jobs go on. A pause
/// that already lasts longer stays.
pub async fn pause(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    duration: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into queue.lanes as l (queue, lane, paused_until)
         values ($1, $2, now() + $3 * interval '1 millisecond')
         on conflict (queue, lane)
         do update set paused_until = greatest(l.paused_until, excluded.paused_until)",
    )
    .bind(queue.as_str())
    .bind(lane)
    .bind(millis(duration))
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends a pause. Wake the queue after the commit, or its jobs wait for the poll.
pub async fn resume(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
) -> Result<(), sqlx::Error> {
    sqlx::query("update queue.lanes set paused_until = null where queue = $1 and lane = $2")
        .bind(queue.as_str())
        .bind(lane)
        .execute(conn)
        .await?;
    Ok(())
}

/// Sets how many jobs of a lane may run at once, instead of the queue's default; none restores the default.
pub async fn set_cap(
    conn: &mut PgConnection,
    queue: QueueName,
    lane: Lane,
    cap: Option<u32>,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into queue.lanes (queue, lane, cap)
         values ($1, $2, $3)
         on conflict (queue, lane) do update set cap = excluded.cap",
    )
    .bind(queue.as_str())
    .bind(lane)
    .bind(cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)))
    .execute(conn)
    .await?;
    Ok(())
}
