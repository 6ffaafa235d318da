//! Effects happen exactly once, under the fence, and a failing one harms no other.

use sqlx::PgPool;

use crate::support::{
    Act, Process, UNTIL_LET_GO, act, count, enqueue, job, names, prepare, quick, settings, until,
    until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn every_effect_happens_once_and_finished_rows_are_gone(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let jobs = enqueue(&pool, (0..1000).map(|n| job(&act(&n.to_string())))).await;
    process.queue.enqueued(&jobs);
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 1000);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        1000
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_worker_that_lost_its_job_leaves_no_effect(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    enqueue(
        &pool,
        [job(&Act {
            sleep_ms: UNTIL_LET_GO,
            ..act("slow")
        })],
    )
    .await;
    until(
        &pool,
        "select exists (select from queue.jobs where state = 1)",
    )
    .await;
    // Another worker claims the job in the meantime, as after a rescue.
    sqlx::query(
        "update queue.jobs set locked_by = gen_random_uuid(), fence = fence + 1, run_at = now()",
    )
    .execute(&pool)
    .await
    .unwrap();
    // That worker is dead, too, so that we finally rescue and finish the job.
    process.until_started(2).await;
    process.let_go();
    until_idle(&pool).await;
    assert_eq!(process.started(), 2);
    assert_eq!(count(&pool, "select count(*) from effects").await, 1);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_second_claim_by_the_same_worker_fences_the_first(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    enqueue(
        &pool,
        [job(&Act {
            sleep_ms: UNTIL_LET_GO,
            ..act("slow")
        })],
    )
    .await;
    until(
        &pool,
        "select exists (select from queue.jobs where state = 1)",
    )
    .await;
    // As after a rescue: the job is due again, and the same worker takes it a second time.
    sqlx::query("update queue.jobs set locked_by = null, state = 0")
        .execute(&pool)
        .await
        .unwrap();
    process.until_started(2).await;
    process.let_go();
    until_idle(&pool).await;
    assert_eq!(process.started(), 2);
    assert_eq!(
        names(&pool, "select attempt::text from effects").await,
        ["2"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_failing_effect_is_charged_and_harms_no_sibling(pool: PgPool) {
    prepare(&pool).await;
    let acts = (0..200).map(|n| Act {
        poison: n % 67 == 3,
        ..act(&n.to_string())
    });
    enqueue(&pool, acts.map(|act| job(&act).max_attempts(2))).await;
    let process = Process::start(&pool, quick(), settings().prefetch(200));
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 197);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        197
    );
    assert_eq!(
        names(
            &pool,
            "select distinct attempt || ' ' || cause from queue.dead_jobs"
        )
        .await,
        ["2 exhausted"]
    );
    let error = names(&pool, "select distinct error from queue.dead_jobs")
        .await
        .concat();
    assert!(error.contains("effects_sound"), "{error}");
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_panicking_effect_is_charged_and_harms_no_sibling(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        ["a", "bomb", "b", "c"].map(|name| job(&act(name)).max_attempts(1)),
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects order by 1").await,
        ["a", "b", "c"]
    );
    assert_eq!(
        names(&pool, "select error from queue.dead_jobs").await,
        ["its effect failed: it panicked: an effect panicked"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn follow_up_jobs_are_there_if_and_only_if_the_job_is_done(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let acts = (0..20).map(|n| Act {
        follow_up: true,
        poison: n % 2 == 0,
        ..act(&n.to_string())
    });
    enqueue(&pool, acts.map(|act| job(&act).max_attempts(1))).await;
    until(
        &pool,
        "select not exists (select from queue.jobs where queue = 'work')",
    )
    .await;
    let follow_ups = names(
        &pool,
        "select payload ->> 'name' from queue.jobs where queue = 'more'",
    )
    .await;
    assert_eq!(follow_ups.len(), 10);
    assert!(follow_ups.iter().all(|name| name.starts_with("after ")));
    process.stop().await;
}
