//! Invalid input is refused with a sentence, and nothing is stored.

use std::time::Duration;

use queue::{Config, MAX_PAYLOAD, NewJob, NewJobs, Queue};
use sqlx::PgPool;

use crate::support::{WORK, act, count, job, lane};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_payload_that_is_too_long_is_refused_with_all_that_came_with_it(pool: PgPool) {
    let long = "x".repeat(MAX_PAYLOAD);
    let jobs: NewJobs = [job(&act("short")), NewJob::new(WORK, lane(1), &long)]
        .into_iter()
        .collect();
    let mut conn = pool.acquire().await.unwrap();
    let refused = queue::enqueue(&mut conn, &jobs).await.unwrap_err();
    let text = refused.to_string();
    assert!(
        text.contains("262146 bytes") && text.contains("store it, and enqueue its id"),
        "{text}"
    );

    // The same from SQL, where nothing has checked the input before.
    let refused = sqlx::query(
        "select queue.enqueue(array['work'], array[gen_random_uuid()], array[to_json(repeat('x', 262144))::text],
                              array[0::smallint], array[0::bigint], array[9::smallint])",
    )
    .execute(&mut *conn)
    .await
    .unwrap_err();
    assert!(
        refused.to_string().contains("more than 262144 bytes"),
        "{refused}"
    );
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_payload_that_is_no_json_is_refused(pool: PgPool) {
    let odd = std::collections::HashMap::from([((1, 2), 3)]);
    let jobs = NewJobs::from(NewJob::new(WORK, lane(1), &odd));
    let mut conn = pool.acquire().await.unwrap();
    let refused = queue::enqueue(&mut conn, &jobs).await.unwrap_err();
    assert!(refused.to_string().contains("is not JSON"), "{refused}");
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_queue_with_impossible_settings_is_not_opened(pool: PgPool) {
    let config = Config {
        lease: Duration::from_secs(1),
        ..Config::default()
    };
    let refused = Queue::open(pool, config).unwrap_err().to_string();
    assert!(
        refused.starts_with("heartbeat is 5s and lease is 1s"),
        "{refused}"
    );
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn many_jobs_at_once_are_all_enqueued(pool: PgPool) {
    let jobs: NewJobs = (0..25_000).map(|_| job(&act("one of many"))).collect();
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &jobs).await.unwrap();
    assert_eq!(
        count(&pool, "select count(*) from queue.jobs").await,
        25_000
    );
}
