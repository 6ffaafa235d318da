//! Claims are fair among lanes, take jobs of higher priority first, and have connections of their own.

use std::time::Duration;

use queue::{Config, NewJob, NewJobs};
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::caps::slow;
use crate::support::{
    Act, NEVER, Process, WORK, act, count, enqueue, job, lane, names, prepare, quick, settings,
    until, until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn one_tenants_backlog_does_not_delay_another(pool: PgPool) {
    prepare(&pool).await;
    // Tells in which order they end, however long this test waits for its turn.
    sqlx::query("alter table effects add seq bigint generated always as identity")
        .execute(&pool)
        .await
        .unwrap();
    enqueue(
        &pool,
        (0..10_000).map(|_| NewJob::new(WORK, lane(1), &slow(10))),
    )
    .await;
    let process = Process::start_with(&pool, quick(), settings(), 8, Duration::from_secs(10));
    until(&pool, "select exists (select from effects)").await;
    let few: NewJobs = (0..10)
        .map(|_| NewJob::new(WORK, lane(2), &act("few")))
        .collect();
    let mut tx = pool.begin().await.unwrap();
    queue::enqueue(&mut tx, &few).await.unwrap();
    tx.commit().await.unwrap();
    // What is done by now was done while there were no others, however long the commit took.
    let before = count(&pool, "select max(seq) from effects").await;
    process.queue.enqueued(&few);
    until(
        &pool,
        "select count(*) = 10 from effects where name = 'few'",
    )
    .await;
    let last = count(&pool, "select max(seq) from effects where name = 'few'").await;
    let others = last - before - 10;
    assert!(others < 250, "{others} jobs of the backlog were done first");
    process.abandon().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn with_fewer_slots_than_lanes_every_lane_has_its_turn(pool: PgPool) {
    prepare(&pool).await;
    let jobs = (0..64u128).flat_map(|n| {
        (0..20).map(move |_| {
            NewJob::new(
                WORK,
                lane(n),
                &Act {
                    name: n.to_string(),
                    ..slow(5)
                },
            )
        })
    });
    enqueue(&pool, jobs).await;
    let process = Process::start_with(
        &pool,
        quick(),
        settings().prefetch(4),
        4,
        Duration::from_secs(10),
    );
    until(&pool, "select count(*) >= 320 from effects").await;
    let served = count(
        &pool,
        "select min(n) from (select count(*) as n from effects group by name) as s",
    )
    .await;
    let lanes = count(&pool, "select count(distinct name) from effects").await;
    assert_eq!(lanes, 64);
    assert!(
        served >= 3,
        "the least served lane was served {served} times of about 5"
    );
    process.abandon().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn many_lanes_of_one_job_are_claimed_in_few_claims(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..5000).map(|n| NewJob::new(WORK, lane(n), &act("one"))),
    )
    .await;
    sqlx::raw_sql("create extension if not exists pg_stat_statements")
        .execute(&pool)
        .await
        .unwrap();
    let config = Config {
        finish_batch: 1000,
        // Polls would count, and there are more of them on a busy machine.
        poll: NEVER,
        ..quick()
    };
    let process = Process::start_with(
        &pool,
        config,
        settings().prefetch(1000),
        1000,
        Duration::from_secs(10),
    );
    until_idle(&pool).await;
    let claims = count(
        &pool,
        "select coalesce(sum(calls), 0)::bigint
           from pg_stat_statements s join pg_database d on d.oid = s.dbid
          where d.datname = current_database() and query like 'select * from queue.claim(%'",
    )
    .await;
    assert!(claims < 30, "{claims} claims");
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn higher_priority_goes_first_within_a_lane(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        [
            job(&act("b")),
            job(&act("a")).priority(5),
            job(&act("c")).priority(-1),
        ],
    )
    .await;
    let process = Process::start_with(&pool, quick(), settings(), 1, Duration::from_secs(10));
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects").await,
        ["a", "b", "c"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn handlers_that_hold_every_connection_stop_no_claim_and_no_heartbeat(pool: PgPool) {
    prepare(&pool).await;
    let theirs = PgPoolOptions::new()
        .max_connections(2)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with((*pool.connect_options()).clone());
    let config = Config {
        lease: Duration::from_secs(4),
        ..quick()
    };
    let process = Process::start(&theirs, config, settings());
    let held = [
        theirs.acquire().await.unwrap(),
        theirs.acquire().await.unwrap(),
    ];
    for round in 0..2 {
        enqueue(&pool, (0..20).map(|n| job(&act(&format!("{round} {n}"))))).await;
        until_idle(&pool).await;
        // Without heartbeats, its lease ends.
        tokio::time::sleep(config.lease * 2).await;
        until(
            &pool,
            "select count(*) = 1 from queue.workers where expires_at > now()",
        )
        .await;
    }
    let once = "select count(distinct name) from effects where attempt = 1";
    assert_eq!(count(&pool, once).await, 40);
    drop(held);
    process.stop().await;
}
