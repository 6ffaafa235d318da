//! A job is taken at once only if the caps of its lane and its group leave room.

use queue::{BackendSettings, NewJob};
use sqlx::PgPool;

use super::{
    HELD, INSERTED, more, start, until_ready, watch_inserts, with_follow_up, without_polls,
};
use crate::support::{
    Act, MORE, UNTIL_LET_GO, act, count, enqueue, job, lane, names, prepare, quick, until,
    until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_lane_at_its_cap_is_left_to_claims(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    at_its_cap(&pool, more().lane_cap(2)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_group_at_its_cap_is_left_to_claims(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    at_its_cap(&pool, more().group_cap(2)).await;
}

/// Two jobs may run at once, and a third one comes.
async fn at_its_cap(pool: &PgPool, more: BackendSettings) {
    let process = start(pool, without_polls(), more);
    until_ready(pool, &process).await;
    let acts = (0..2).map(|n| Act {
        // Both still run when the third one comes.
        follow_up_sleep_ms: UNTIL_LET_GO,
        ..with_follow_up(&n.to_string())
    });
    let jobs = enqueue(pool, acts.map(|act| job(&act))).await;
    process.queue.enqueued(&jobs);
    until(
        pool,
        "select count(*) = 2 from queue.jobs where queue = 'more' and state = 1",
    )
    .await;
    let jobs = enqueue(pool, [job(&with_follow_up("third"))]).await;
    process.queue.enqueued(&jobs);
    until(pool, "select count(*) = 3 from effects").await;
    assert_eq!(names(pool, INSERTED).await, ["1: 0 0 0", "2: 1 1 1"]);
    process.let_go();
    until_idle(pool).await;
    assert_eq!(process.started(), 1 + 6);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn the_cap_is_exact_over_processes_that_claim_and_take(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    never_more_than_three(&pool, more().lane_cap(3)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn so_is_that_of_a_group(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    never_more_than_three(&pool, more().group_cap(3)).await;
}

/// Chance decides how a batch of jobs runs: some are taken at once, others are claimed. Batches
/// follow until both have happened and the cap was reached.
async fn never_more_than_three(pool: &PgPool, more: BackendSettings) {
    let (one, other) = (start(pool, quick(), more), start(pool, quick(), more));
    let (mut jobs, mut most) = (0, 0);
    let mut taken = false;
    while !taken || most < 3 {
        assert!(jobs < 2_000, "at most {most} ran at once; taken: {taken}");
        let batch = jobs..jobs + 100;
        jobs = batch.end;
        let acts = batch.map(|n| Act {
            sleep_ms: n % 7,
            follow_up_sleep_ms: 5,
            ..with_follow_up(&n.to_string())
        });
        enqueue(pool, acts.map(|act| job(&act))).await;
        while count(pool, "select count(*) from queue.jobs").await > 0 {
            let running = "select count(*) from queue.jobs where queue = 'more' and state = 1";
            most = most.max(count(pool, running).await);
            assert!(most <= 3, "{most} ran at once");
        }
        taken = count(pool, "select count(*) from inserted where state = 1").await > 0;
    }
    let done = count(pool, "select count(*) from effects").await;
    assert_eq!(done.cast_unsigned(), 2 * jobs);
    one.stop().await;
    other.stop().await;
}

/// Under a cap, due jobs go first. Otherwise new jobs could take every place that becomes free.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_due_job_of_a_capped_lane_goes_first(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    // The jobs are due, but nobody claims them: the claims wait for the lock of the lane.
    let mut claims = pool.begin().await.unwrap();
    enqueue(&pool, [NewJob::new(MORE, lane(1), &act("early"))]).await;
    sqlx::query("select pg_advisory_xact_lock(hashtext('more'), uuid_hash($1))")
        .bind(lane(1))
        .execute(&mut *claims)
        .await
        .unwrap();
    let held: Vec<Option<i64>> = sqlx::query_scalar(HELD)
        .bind(lane(1))
        .fetch_one(&mut *claims)
        .await
        .unwrap();
    assert_eq!(held, [None]);
    // Another transaction holds the lock.
    let held: Vec<Option<i64>> = sqlx::query_scalar(HELD)
        .bind(lane(1))
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert_eq!(held, [None]);
    let held: Vec<Option<i64>> = sqlx::query_scalar(HELD)
        .bind(lane(2))
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert!(matches!(held[..], [Some(_)]), "another lane is free");
}
