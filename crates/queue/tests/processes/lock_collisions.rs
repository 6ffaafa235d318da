//! Lanes whose locks have the same number.

use queue::{Lane, NewJob};
use sqlx::PgPool;

use crate::{
    external_service::ExternalService,
    harness::{assert_each_once, count, enqueue, prepare, until, until_idle},
    jobs::{Act, WORK, act, call},
    worker::{Setup, Worker},
};

/// Two lanes whose locks are the same.
async fn twins(pool: &PgPool) -> [Lane; 2] {
    let lanes: Vec<Lane> = sqlx::query_scalar(
        "select unnest(array_agg(lane))
           from (select md5(n::text)::uuid as lane from generate_series(1, 300000) n) as lanes
          group by uuid_hash(lane) having count(*) > 1
          limit 2",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    lanes.try_into().unwrap()
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q3_lanes_whose_locks_collide_are_both_served_within_their_caps(pool: PgPool) {
    prepare(&pool).await;
    let twins = twins(&pool).await;
    let witness = ExternalService::start().await;
    let setup = Setup {
        lane_cap: Some(2),
        ..Setup::on(&pool).calling(&witness)
    };
    let workers = [(); 4].map(|()| Worker::start(&setup));
    // Each new job goes before those that wait, so that two claims at once would take different
    // ones.
    for n in 0..150 {
        let jobs = [0, 1].map(|twin| {
            let act = Act {
                sleep_ms: 5,
                ..call(format!("{twin}/{n}"))
            };
            NewJob::new(WORK, twins[twin], &act).priority(i16::try_from(n).unwrap())
        });
        enqueue(&pool, jobs).await;
    }
    until_idle(&pool).await;
    assert_each_once(&pool, 300).await;
    assert_eq!(
        [witness.most_at_work("0"), witness.most_at_work("1")],
        [2, 2]
    );
    for worker in workers {
        worker.stop().await;
    }
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(count(&pool, deadlocks).await, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q3_a_claim_waits_for_one_that_has_the_same_lock_and_keeps_the_cap(pool: PgPool) {
    let claim = "select coalesce(cardinality(ids), 0)::bigint
                   from queue.claim(gen_random_uuid(), 'work', 10, gen_random_uuid(), 64, 2, null, 0::smallint)";
    let [one, other] = twins(&pool).await;
    enqueue(&pool, (0..3).map(|n| NewJob::new(WORK, one, &act(n)))).await;
    let mut first = pool.begin().await.unwrap();
    let taken: i64 = sqlx::query_scalar(claim)
        .fetch_one(&mut *first)
        .await
        .unwrap();
    assert_eq!(taken, 2);
    // The second claim sees the full lane as empty, and would take this job first.
    let urgent = NewJob::new(WORK, one, &act("urgent")).priority(9);
    enqueue(&pool, [urgent, NewJob::new(WORK, other, &act("other"))]).await;
    let second = tokio::spawn({
        let pool = pool.clone();
        async move { count(&pool, claim).await }
    });
    let waits = "select exists (select from pg_stat_activity
                  where datname = current_database() and wait_event = 'advisory')";
    until(&pool, waits).await;
    first.commit().await.unwrap();
    second.await.unwrap();
    while count(&pool, claim).await > 0 {}
    let running: Vec<(Lane, i64)> =
        sqlx::query_as("select lane, count(*) from queue.jobs where state = 1 group by 1")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(running.len(), 2);
    assert!(
        running.contains(&(one, 2)) && running.contains(&(other, 1)),
        "{running:?}"
    );
}
