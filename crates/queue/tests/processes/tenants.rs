//! A tenant with a backlog, and another tenant with ten jobs.

use queue::{NewJob, NewJobs};
use sqlx::PgPool;

use crate::{
    harness::{assert_each_once, count, enqueue, prepare, until_within},
    jobs::{Act, WORK, act, lane},
    load::{IDLE, MINUTES},
    worker::{Setup, Worker},
};

/// How many jobs of the backlog are done while the other tenant's ten jobs wait.
async fn overtaken(pool: &PgPool, backlog: u32, processes: usize) -> i64 {
    prepare(pool).await;
    let in_lane = |n, name: String| {
        let act = Act {
            sleep_ms: 1,
            ..act(name)
        };
        NewJob::new(WORK, lane(n), &act)
    };
    enqueue(pool, (0..backlog).map(|n| in_lane(1, format!("big/{n}")))).await;
    let setup = Setup::on(pool);
    let workers: Vec<Worker> = (0..processes).map(|_| Worker::start(&setup)).collect();
    until_within(MINUTES, pool, "select count(*) > 200 from effects").await;
    let small: NewJobs = (0..10).map(|n| in_lane(2, format!("small/{n}"))).collect();
    let mut tx = pool.begin().await.unwrap();
    queue::enqueue(&mut tx, &small).await.unwrap();
    // What is done by now was done while there were no others, however long inserting them took.
    let before: i64 = sqlx::query_scalar("select max(seq) from effects")
        .fetch_one(&mut *tx)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    until_within(MINUTES, pool, IDLE).await;
    assert_each_once(pool, i64::from(backlog) + 10).await;
    for worker in workers {
        worker.stop().await;
    }
    count(
        pool,
        "select max(seq) from effects where name like 'small/%'",
    )
    .await
        - before
}

/// Compares the order of the effects, which does not depend on the machine's speed. A benchmark
/// measures the waits in milliseconds.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_15_a_backlog_of_one_tenant_is_overtaken_by_another_s_jobs(pool: PgPool) {
    let overtaken = overtaken(&pool, 4000, 1).await;
    assert!(
        overtaken < 1000,
        "{overtaken} jobs of the backlog went first"
    );
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
#[ignore = "long; run by `make reliability`"]
async fn case_15_a_backlog_of_100_000_is_overtaken_by_ten_jobs(pool: PgPool) {
    let overtaken = overtaken(&pool, 100_000, 3).await;
    eprintln!("the ten waited for {overtaken} of 100,000");
    // Jobs that are done while a busy machine lets a process wait count, too.
    assert!(
        overtaken < 5000,
        "{overtaken} jobs of the backlog went first"
    );
}
