//! Workers that are killed and replaced under load.

use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::time::sleep;

use crate::{
    harness::{assert_each_once, count, enqueue, prepare, until, until_idle},
    jobs::{Act, act, job},
    worker::{Setup, Worker},
};

/// A load. In its middle, one of three workers is killed and replaced again and again.
struct Plan {
    jobs_a_tick: u32,
    /// Long enough for a killed worker to have jobs.
    sleep_ms: u64,
    /// Ticks of a tenth of a second: undisturbed, with kills, undisturbed again.
    calm: u32,
    kills: u32,
    ticks_between_kills: u32,
}

/// Returns the number of effects in the first calm phase, and in the second.
async fn kill_under_load(pool: &PgPool, plan: Plan) -> [i64; 2] {
    prepare(pool).await;
    let setup = Setup::on(pool);
    let mut workers: Vec<Worker> = (0..3).map(|_| Worker::start(&setup)).collect();
    // The first one that is killed works by then.
    until(pool, "select count(*) = 3 from queue.workers").await;
    let begun = Instant::now();
    let mut enqueued = 0;
    let mut killed = 0;
    let last_kill = plan.calm + plan.kills * plan.ticks_between_kills;
    // The lease of the last victim ends before the second calm phase begins.
    let recovered = last_kill + 20;
    for tick in 0..recovered + plan.calm {
        let batch = enqueued..enqueued + plan.jobs_a_tick;
        enqueued = batch.end;
        let acts = batch.map(|n| Act {
            sleep_ms: plan.sleep_ms,
            ..act(n)
        });
        enqueue(pool, acts.map(|act| job(&act))).await;
        if tick >= plan.calm && tick < last_kill && tick % plan.ticks_between_kills == 0 {
            workers.push(Worker::start(&setup));
            workers.remove(0).kill();
            killed += 1;
            eprintln!(
                "killed {killed} of {}, {enqueued} jobs enqueued",
                plan.kills
            );
        }
        sleep((Duration::from_millis(100) * (tick + 1)).saturating_sub(begun.elapsed())).await;
    }
    until_idle(pool).await;
    assert_eq!(killed, plan.kills);
    assert_each_once(pool, enqueued.into()).await;
    let rescued = count(pool, "select count(*) from effects where attempt > 1").await;
    assert!(rescued > 0, "nobody died with a job in hand");
    let (before, after): (i64, i64) = sqlx::query_as(
        "select count(*) filter (where at < first + $1 * interval '100 ms'),
                count(*) filter (where at >= first + $2 * interval '100 ms'
                                   and at < first + ($1 + $2) * interval '100 ms')
           from effects, (select min(at) as first from effects) as f",
    )
    .bind(i64::from(plan.calm))
    .bind(i64::from(recovered))
    .fetch_one(pool)
    .await
    .unwrap();
    eprintln!(
        "{enqueued} jobs, {rescued} rescued; {before} effects in the first calm, {after} in the second"
    );
    for worker in workers {
        worker.stop().await;
    }
    [before, after]
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_04_workers_killed_under_load_cost_time_and_nothing_else(pool: PgPool) {
    let plan = Plan {
        jobs_a_tick: 15,
        sleep_ms: 700,
        calm: 5,
        kills: 3,
        ticks_between_kills: 3,
    };
    kill_under_load(&pool, plan).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
#[ignore = "long; run by `make reliability`"]
async fn case_04_workers_killed_every_few_seconds_for_a_minute(pool: PgPool) {
    let plan = Plan {
        jobs_a_tick: 100,
        sleep_ms: 50,
        calm: 50,
        kills: 20,
        ticks_between_kills: 25,
    };
    let [before, after] = kill_under_load(&pool, plan).await;
    assert!(
        after * 2 > before,
        "throughput did not return: {before}, then {after}"
    );
}
