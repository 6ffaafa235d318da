//! What older and newer binaries see of each other's jobs.

use std::sync::atomic::Ordering::SeqCst;

use queue::NewJob;
use sqlx::PgPool;

use super::job_in;
use crate::support::{
    Process, WORK, act, count, enqueue, lane, names, prepare, quick, settings, until_idle,
};

/// Claims like a binary that does not know groups and formats.
async fn claim_as_before(pool: &PgPool, limit: i32, cap: Option<i32>) -> Vec<i64> {
    let ids: Option<Vec<i64>> = sqlx::query_scalar(
        "select ids from queue.claim(gen_random_uuid(), 'work', $1, gen_random_uuid(), 64, $2)",
    )
    .bind(limit)
    .bind(cap)
    .fetch_one(pool)
    .await
    .unwrap();
    ids.unwrap_or_default()
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_older_binary_claims_no_job_whose_payload_it_would_misread(pool: PgPool) {
    let new = |n: u128| job_in(1, n % 5, &act("new")).format(1);
    // One lane with both kinds of jobs, the new ones first by priority, and one lane with only new
    // ones.
    enqueue(&pool, (0..50).map(|n| new(n).priority(5))).await;
    enqueue(&pool, (0..50).map(|n| job_in(1, n % 4, &act("old")))).await;
    let mut claimed = 0;
    loop {
        let ids = claim_as_before(&pool, 7, None).await;
        if ids.is_empty() {
            break;
        }
        claimed += ids.len();
    }
    assert_eq!(claimed, 50);
    let left = "select count(*) from queue.jobs where state = 0 and format = 1";
    assert_eq!(count(&pool, left).await, 50);
    let taken = "select count(*) from queue.jobs where state = 1 and format = 0";
    assert_eq!(count(&pool, taken).await, 50);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_lanes_cap_holds_over_jobs_of_older_and_of_newer_binaries(pool: PgPool) {
    // An older binary puts the jobs of a lane into a group of its own.
    sqlx::query(
        "select queue.enqueue(array_fill('work'::text, array[10]), array_fill($1::uuid, array[10]),
                              array_fill('{}'::text, array[10]), array_fill(0::smallint, array[10]),
                              array_fill(0::bigint, array[10]), array_fill(5::smallint, array[10]))",
    )
    .bind(lane(1_001))
    .execute(&pool)
    .await
    .unwrap();
    enqueue(&pool, (0..10).map(|_| job_in(1, 1, &act("new")))).await;
    let groups = "select count(distinct grp) from queue.jobs";
    assert_eq!(count(&pool, groups).await, 2);
    let mut running = 0;
    for _ in 0..4 {
        running += claim_as_before(&pool, 3, Some(5)).await.len();
        let newer: i64 = sqlx::query_scalar(
            "select coalesce(cardinality(ids), 0)::bigint
               from queue.claim(gen_random_uuid(), 'work', 3, gen_random_uuid(), 64, 5, null, 1::smallint)",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        running += usize::try_from(newer).unwrap();
    }
    assert_eq!(running, 5);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_process_works_on_groups_whose_jobs_were_enqueued_by_anybody(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..30).map(|n| job_in(n % 3, n % 5, &act("grouped"))),
    )
    .await;
    enqueue(
        &pool,
        (0..10).map(|n| NewJob::new(WORK, lane(n), &act("alone"))),
    )
    .await;
    let process = Process::start(
        &pool,
        quick(),
        settings().slots(16).lane_cap(2).group_cap(4),
    );
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects where name = 'alone'")
            .await
            .len(),
        10
    );
    assert_eq!(count(&pool, "select count(*) from effects").await, 40);
    assert!(process.seen.most_running.load(SeqCst) > 1);
    process.stop().await;
}
