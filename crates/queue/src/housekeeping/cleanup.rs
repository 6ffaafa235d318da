//! Cleanup: removes rows that nobody needs any more.

use std::time::Duration;

use sqlx::PgConnection;
use tracing::info;

use crate::dead_jobs;

const PURGED_AT_ONCE: u32 = 1000;

const PURGES: u32 = 20;

/// Removes rows that have no meaning any more: workers whose lease has ended, and pauses that are
/// over. Skips locked rows.
pub(super) async fn tidy(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from queue.workers
          where id in (select id from queue.workers where expires_at <= now() for update skip locked)"
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from queue.lanes
          where (queue, lane) in (select queue, lane from queue.lanes
                                   where cap is null and coalesce(paused_until, '-infinity') <= now()
                                     for update skip locked)"
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from queue.queues
          where queue in (select queue from queue.queues where paused_until <= now() for update skip locked)"
    )
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn purge(conn: &mut PgConnection, age: Duration) -> Result<(), sqlx::Error> {
    for _ in 0..PURGES {
        let purged = dead_jobs::purge(conn, age, PURGED_AT_ONCE).await?;
        if purged > 0 {
            info!(jobs = purged, "deleted dead jobs past their retention");
        }
        if purged < u64::from(PURGED_AT_ONCE) {
            break;
        }
    }
    Ok(())
}
