//! Processes that stop and come back, and jobs that only take long.

use rustix::process::Signal;
use sqlx::PgPool;

use crate::{
    external_service::ExternalService,
    harness::{assert_each_once, count, effects, enqueue, prepare, until, until_idle},
    jobs::{Act, Kind, act, call, job},
    worker::{Setup, Worker},
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_06_a_worker_stopped_past_its_lease_is_refused(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::answering(0).await;
    let setup = Setup::on(&pool).calling(&witness);
    let stopped = Worker::start(&setup);
    enqueue(&pool, (0..8).map(|n| job(&call(n)))).await;
    witness.until_called(8).await;
    stopped.signal(Signal::STOP);
    let other = Worker::start(&setup);
    witness.until_called(16).await;
    // All calls of the stopped worker are answered, and half of the other worker's calls.
    witness.answer(12);
    until(&pool, "select count(*) = 4 from effects").await;

    // It comes back to four finished jobs, and to four that the other worker runs.
    stopped.signal(Signal::CONT);
    assert_eq!(stopped.stop().await.refused(), 8);
    assert_eq!(count(&pool, "select count(*) from effects").await, 4);
    witness.answer_all();
    until_idle(&pool).await;
    assert_each_once(&pool, 8).await;
    assert_eq!(
        count(&pool, "select count(*) from effects where attempt = 2").await,
        8
    );
    let counted = other.stop().await;
    assert_eq!((counted.done(), counted.refused()), (8, 0));
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_10_a_job_longer_than_three_leases_keeps_its_worker(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::start().await;
    let setup = Setup::on(&pool).calling(&witness);
    let long = Act {
        sleep_ms: 3 * setup.lease_ms + 200,
        ..call("long")
    };
    let workers = [Worker::start(&setup), Worker::start(&setup)];
    enqueue(&pool, [job(&long)]).await;
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["long 1"]);
    assert_eq!(witness.calls(), ["long"]);
    for worker in workers {
        assert_eq!(worker.stop().await.refused(), 0);
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q2_a_worker_stopped_inside_its_finish_holds_nobody_up(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::answering(0).await;
    let setup = Setup {
        // The server ends the transaction only after it was seen to be open.
        deadline_ms: 6_000,
        ..Setup::on(&pool).calling(&witness)
    };
    let stopped = Worker::start(&setup);
    let stall = Act {
        effect: Kind::Stall,
        ..act("stalled")
    };
    enqueue(&pool, [job(&stall)]).await;
    witness.until_called(1).await;
    stopped.signal(Signal::STOP);
    let open = "select count(*) from pg_stat_activity
                 where datname = current_database() and state = 'idle in transaction'
                   and query like '%insert into effects%'";
    assert_eq!(count(&pool, open).await, 1);

    let other = Worker::start(&setup);
    enqueue(&pool, (0..20).map(|n| job(&act(n)))).await;
    until(&pool, "select count(*) = 20 from effects").await;
    // The server ends the transaction, and then the job belongs to another worker.
    until_idle(&pool).await;
    assert_eq!(count(&pool, open).await, 0);

    witness.answer_all();
    stopped.signal(Signal::CONT);
    assert_eq!(stopped.stop().await.refused(), 1);
    assert_each_once(&pool, 21).await;
    assert_eq!(witness.calls(), ["finishing stalled"]);
    other.stop().await;
}
