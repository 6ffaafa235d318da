//! Notifications that never arrive.

use std::time::{Duration, Instant};

use queue::{Config, NewJobs, Queue};
use sqlx::PgPool;

use crate::{
    external_service::ExternalService,
    harness::{prepare, until},
    jobs::{call, job},
    proxy::Proxy,
    worker::{Setup, Worker},
};

/// Enqueues jobs one by one for a worker that gets no notifications. Returns the longest wait
/// before a job ran.
async fn longest_wait(pool: &PgPool, jobs: usize) -> Duration {
    prepare(pool).await;
    let witness = ExternalService::start().await;
    let options = pool.connect_options();
    let proxy = Proxy::start(options.get_host(), options.get_port());
    proxy.lose_notifications();
    let setup = Setup {
        poll_ms: u64::try_from(Config::default().poll.as_millis()).unwrap(),
        ..Setup::through(pool, &proxy).calling(&witness)
    };
    let worker = Worker::start(&setup);
    let listens = "select exists (select from pg_stat_activity
                    where datname = current_database() and query like 'LISTEN%')";
    until(pool, listens).await;
    let producer = Queue::open(pool.clone(), Config::default()).unwrap();
    let mut longest = Duration::ZERO;
    for n in 1..=jobs {
        let begun = Instant::now();
        let jobs = NewJobs::from(job(&call(n)));
        queue::enqueue(&mut pool.acquire().await.unwrap(), &jobs)
            .await
            .unwrap();
        producer.enqueued(&jobs);
        witness.until_called(n).await;
        longest = longest.max(begun.elapsed());
    }
    assert!(proxy.lost_notifications() > 0, "nobody was notified");
    producer.close(Duration::from_secs(1)).await;
    worker.stop().await;
    longest
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_12_jobs_are_picked_up_although_notifications_are_lost(pool: PgPool) {
    // The witness waits for each of them, and gives up after a while.
    longest_wait(&pool, 3).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
#[ignore = "its limit is for a machine that does nothing else; run by `make reliability`"]
async fn case_12_jobs_are_picked_up_within_a_second_although_notifications_are_lost(pool: PgPool) {
    let longest = longest_wait(&pool, 40).await;
    eprintln!("the longest of 40 waits: {longest:?}");
    assert!(longest < Duration::from_secs(1), "{longest:?}");
}
