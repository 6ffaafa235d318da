//! Promotes jobs that became due without a claim that looked for them.
//!
//! Claims promote due jobs, but they look for them only after `promoted_until`, because the index
//! may still contain dead entries of all jobs promoted before. A transaction that commits a
//! scheduled job after its time puts the job before that line. This module finds such jobs and
//! moves the line on.

use sqlx::PgConnection;

use crate::shared::Shared;

/// How far the line stays behind the present. A job that is committed later than this after it was
/// due waits for the next sweep.
const SLACK_SECONDS: i32 = 10;
/// The most jobs promoted by one statement.
const BATCH: i64 = 1000;
/// The most statements for one queue in one sweep. While more jobs are left, the line stays, and
/// claims promote them, too.
const BATCHES: u32 = 20;

/// Promotes all due jobs of every queue, and moves the line.
pub(crate) async fn promote_late(
    conn: &mut PgConnection,
    shared: &Shared,
) -> Result<(), sqlx::Error> {
    // Read first: jobs that become due in the meantime are after the line.
    let line = sqlx::query_scalar!(
        r#"select now() - $1::integer * interval '1 second' as "line!""#,
        SLACK_SECONDS,
    )
    .fetch_one(&mut *conn)
    .await?;
    let mut all = true;
    for queue in queues(conn).await? {
        let mut some_left = true;
        for _ in 0..BATCHES {
            let promoted = promote(conn, &queue, line).await?;
            if promoted > 0 {
                shared.wake_if_known(&queue);
            }
            if promoted < BATCH.cast_unsigned() {
                some_left = false;
                break;
            }
        }
        all &= !some_left;
    }
    // The remaining jobs must stay where claims look for them.
    if !all {
        return Ok(());
    }
    sqlx::query!(
        "select setval('queue.promoted_until', greatest(pg_sequence_last_value('queue.promoted_until'), $1))",
        line.timestamp_micros(),
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// The queues with scheduled or doomed jobs, each found by one probe of the index.
async fn queues(conn: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"with recursive names (queue) as (
             (select queue from queue.jobs where state >= 2 order by queue limit 1)
              union all
             select (select j.queue from queue.jobs j
                      where j.state >= 2 and j.queue > n.queue
                      order by j.queue limit 1)
               from names n
              where n.queue is not null
         )
         select queue as "queue!" from names where queue is not null"#
    )
    .fetch_all(conn)
    .await
}

async fn promote(
    conn: &mut PgConnection,
    queue: &str,
    line: chrono::DateTime<chrono::Utc>,
) -> Result<u64, sqlx::Error> {
    let promoted = sqlx::query!(
        "update queue.jobs
            set state = 0, gen = (select queue.enter_generation())
          where id = any (array(
                    select id from queue.jobs
                     where queue = $1 and state = 2 and run_at <= $2
                     order by run_at
                     limit $3
                       for update skip locked))",
        queue,
        line,
        BATCH,
    )
    .execute(conn)
    .await?;
    Ok(promoted.rows_affected())
}

#[cfg(test)]
mod tests;
