//! Many jobs for many processes: each is done once.

use std::time::Duration;

use queue::NewJob;
use sqlx::PgPool;

use crate::{
    harness::{assert_each_once, enqueue, prepare, until_within},
    jobs::{WORK, act, lane},
    worker::{Setup, Worker},
};

pub(crate) const MINUTES: Duration = Duration::from_mins(10);
pub(crate) const IDLE: &str = "select not exists (select from queue.jobs)";

async fn each_once(pool: &PgPool, jobs: u32, processes: usize) {
    prepare(pool).await;
    let setup = Setup {
        // With so many processes, a small machine may not send heartbeats for seconds.
        lease_ms: 15_000,
        ..Setup::on(pool)
    };
    let workers: Vec<Worker> = (0..processes).map(|_| Worker::start(&setup)).collect();
    let mut enqueued = 0;
    while enqueued < jobs {
        let batch = enqueued..jobs.min(enqueued + 1000);
        enqueued = batch.end;
        let in_lanes = batch.map(|n| NewJob::new(WORK, lane((n % 50).into()), &act(n)));
        enqueue(pool, in_lanes).await;
    }
    until_within(MINUTES, pool, IDLE).await;
    assert_each_once(pool, jobs.into()).await;
    let mut done = 0;
    for worker in workers {
        let counted = worker.stop().await;
        eprintln!("a process finished {}", counted.done());
        assert_eq!(counted.refused(), 0);
        done += counted.done();
    }
    assert_eq!(done, u64::from(jobs));
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_13_many_processes_do_each_job_once(pool: PgPool) {
    each_once(&pool, 4000, 4).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
#[ignore = "long; run by `make reliability`"]
async fn case_13_eight_processes_do_each_of_100_000_jobs_once(pool: PgPool) {
    each_once(&pool, 100_000, 8).await;
}
