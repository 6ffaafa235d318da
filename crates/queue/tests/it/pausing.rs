//! Pauses of whole queues.

use std::time::Duration;

use queue::{Queue, queues};
use sqlx::PgPool;

use crate::support::{
    MORE, Process, WORK, act, enqueue, job, prepare, quick, settings, until_idle,
};

pub(crate) async fn enqueue_and_finish(pool: &PgPool, queue: &Queue) {
    let jobs = enqueue(pool, [job(&act("first"))]).await;
    queue.enqueued(&jobs);
    until_idle(pool).await;
    // Wait for the claim that finds no more jobs.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_paused_queue_starts_nothing_until_it_is_resumed(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    queues::pause(&mut conn, WORK, None).await.unwrap();
    // A shorter pause does not end a longer one.
    queues::pause(&mut conn, WORK, Duration::from_millis(1))
        .await
        .unwrap();
    enqueue(&pool, [job(&act("held"))]).await;
    for _ in 0..2 {
        let process = Process::start(&pool, quick(), settings());
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(process.started(), 0, "a paused queue was worked on");
        process.stop().await;
    }
    let process = Process::start(&pool, quick(), settings());
    assert!(queues::resume(&mut conn, WORK).await.unwrap());
    assert!(!queues::resume(&mut conn, WORK).await.unwrap());
    until_idle(&pool).await;
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_pause_of_a_queue_ends_by_itself_and_holds_no_other_queue(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    queues::pause(&mut conn, MORE, None).await.unwrap();
    queues::pause(&mut conn, WORK, Duration::from_hours(1))
        .await
        .unwrap();
    enqueue(&pool, [job(&act("held"))]).await;
    let process = Process::start(&pool, quick(), settings());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(process.started(), 0, "a paused queue was worked on");
    // As if most of the hour were over.
    sqlx::query("update queue.queues set paused_until = now() + '200 ms' where queue = 'work'")
        .execute(&pool)
        .await
        .unwrap();
    until_idle(&pool).await;
    process.stop().await;
}
