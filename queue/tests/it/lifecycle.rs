//! Starting, stopping, dying: jobs that were claimed and not finished continue elsewhere.

use std::time::Duration;

use queue::{Config, Queue};
use sqlx::PgPool;

use crate::support::{
    Act, PATIENCE, Process, UNTIL_LET_GO, act, count, enqueue, job, names, prepare, quick,
    settings, until, until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_shutdown_ends_what_runs_and_returns_the_rest_uncharged(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..30).map(|_| {
            job(&Act {
                sleep_ms: UNTIL_LET_GO,
                ..act("slow")
            })
        }),
    )
    .await;
    let process = Process::start_with(&pool, quick(), settings(), 4, PATIENCE);
    until(
        &pool,
        "select count(*) >= 20 from queue.jobs where state = 1",
    )
    .await;
    process.until_started(4).await;
    let worker = process.queue.worker_id();
    process.stop_and_let_go().await;
    let done = count(&pool, "select count(*) from effects").await;
    assert!((1..=8).contains(&done), "{done}");
    assert_eq!(
        names(
            &pool,
            "select distinct concat_ws(' ', state, attempt, locked_by is null) from queue.jobs"
        )
        .await,
        ["0 0 t"]
    );
    assert_eq!(
        count(&pool, "select count(*) from queue.jobs").await,
        30 - done
    );
    let here: i64 = sqlx::query_scalar("select count(*) from queue.workers where id = $1")
        .bind(worker)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(here, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn workers_dropped_at_the_end_of_the_grace_give_back_what_they_ran(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..30).map(|_| {
            job(&Act {
                sleep_ms: 60_000,
                ..act("slow")
            })
        }),
    )
    .await;
    let process = Process::start_with(&pool, quick(), settings(), 4, Duration::from_secs(100));
    until(
        &pool,
        "select count(*) >= 20 from queue.jobs where state = 1",
    )
    .await;
    process.until_started(4).await;
    process.abandon().await;
    assert_eq!(
        count(&pool, "select count(*) from queue.jobs where state = 0").await,
        30
    );
    assert_eq!(
        count(&pool, "select max(attempt)::bigint from queue.jobs").await,
        0
    );
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn jobs_of_a_dead_worker_run_elsewhere_and_its_row_goes(pool: PgPool) {
    prepare(&pool).await;
    enqueue(&pool, (0..700).map(|n| job(&act(&n.to_string())))).await;
    sqlx::raw_sql(
        "insert into queue.workers values
             ('00000000-0000-7000-8000-000000000001', now(), now() + '1 hour');
         update queue.jobs
            set state = 1, attempt = 1, fence = 1,
                locked_by = '00000000-0000-7000-8000-000000000001'",
    )
    .execute(&pool)
    .await
    .unwrap();
    let process = Process::start(&pool, quick(), settings());
    until(&pool, "select count(*) = 2 from queue.workers").await;
    // As long as several sweeps.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(process.started(), 0, "its lease was not over");
    sqlx::query("update queue.workers set expires_at = now() where id = '00000000-0000-7000-8000-000000000001'")
        .execute(&pool)
        .await
        .unwrap();
    until_idle(&pool).await;
    assert_eq!(
        count(&pool, "select count(*) from effects where attempt = 2").await,
        700
    );
    until(&pool, "select count(*) = 1 from queue.workers").await;
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_job_that_keeps_losing_workers_waits_longer_each_time(pool: PgPool) {
    prepare(&pool).await;
    enqueue(&pool, (0..2).map(|_| job(&act("lost")))).await;
    sqlx::query(
        "update queue.jobs
            set state = 1, locked_by = gen_random_uuid(), fence = 9,
                attempt = case when id = (select min(id) from queue.jobs) then 1 else 9 end",
    )
    .execute(&pool)
    .await
    .unwrap();
    let sweeper = Queue::open(pool.clone(), quick()).unwrap();
    until(
        &pool,
        "select not exists (select from queue.jobs where state = 1)",
    )
    .await;
    assert_eq!(
        names(
            &pool,
            "select concat_ws(' ', attempt, state, run_at > now() + '1 minute')
               from queue.jobs order by attempt"
        )
        .await,
        ["1 0 f", "9 2 t"]
    );
    sweeper.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_claim_whose_answer_was_lost_is_released_by_its_own_worker(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    until(&pool, "select exists (select from queue.workers)").await;
    // A claim in this worker's name whose answer never arrived.
    enqueue(&pool, [job(&act("stray")).delay(Duration::from_hours(1))]).await;
    sqlx::query("update queue.jobs set state = 1, locked_by = $1, attempt = 1, fence = 1")
        .bind(process.queue.worker_id())
        .execute(&pool)
        .await
        .unwrap();
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name || attempt from effects").await,
        ["stray1"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn many_processes_do_every_job_once(pool: PgPool) {
    prepare(&pool).await;
    let processes: Vec<_> = (0..3)
        .map(|_| {
            Process::start(
                &pool,
                Config {
                    finishers: 2,
                    ..quick()
                },
                settings(),
            )
        })
        .collect();
    for batch in 0..10 {
        enqueue(&pool, (0..300).map(|n| job(&act(&format!("{batch}/{n}"))))).await;
    }
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 3000);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        3000
    );
    assert_eq!(processes.iter().map(Process::started).sum::<u32>(), 3000);
    for process in processes {
        process.stop().await;
    }
}
