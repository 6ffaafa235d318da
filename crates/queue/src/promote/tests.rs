//! The line of promotion: which jobs are promoted, and when the line moves on.

use std::time::Duration;

use sqlx::PgPool;

use super::*;
use crate::{Config, Process, Queue};

async fn line(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select pg_sequence_last_value('queue.promoted_until')")
        .fetch_one(pool)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn the_line_stays_while_jobs_before_it_are_left(pool: PgPool) {
    // Its tasks never begin, so that only this test promotes jobs: a newcomer would do it once, too.
    let queue = Queue::open_later(pool.clone(), Config::default(), Process::default()).unwrap();
    let hour_ago = "extract(epoch from now() - interval '1 hour') * 1000000";
    let late = i64::from(BATCHES) * BATCH + 1;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "select setval('queue.promoted_until', ({hour_ago})::bigint);
         insert into queue.jobs (queue, lane, payload, max_attempts, state, run_at)
         select 'q', gen_random_uuid(), '{{}}', 5, 2, now() - interval '1 minute' from generate_series(1, {late})"
    )))
    .execute(&pool)
    .await
    .unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let before = line(&pool).await;
    promote_late(&mut conn, queue.shared()).await.unwrap();
    assert_eq!(line(&pool).await, before, "one job is left");
    promote_late(&mut conn, queue.shared()).await.unwrap();
    assert!(line(&pool).await > before);
    let scheduled: i64 = sqlx::query_scalar("select count(*) from queue.jobs where state = 2")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(scheduled, 0);
    queue.close(Duration::from_secs(1)).await;
}
