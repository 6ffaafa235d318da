//! Workers start due jobs in time, and the depth of a queue can be read.

use std::time::Duration;

use queue::{Config, NewJob, depth, lanes, queues};
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;

use crate::caps::slow;
use crate::support::{
    Act, End, NEVER, Process, WORK, act, enqueue, job, lane, prepare, quick, settings, until,
    until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn without_a_notification_the_poll_finds_the_job(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, Config::default(), settings());
    until(&pool, "select exists (select from queue.workers)").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    enqueue(&pool, [job(&act("unheard"))]).await;
    until_idle(&pool).await;
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_notification_wakes_another_process_at_once(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        poll: NEVER,
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    let sender = queue::Queue::open(pool.clone(), config).unwrap();
    until(
        &pool,
        "select count(*) = 2 from pg_stat_activity
          where datname = current_database() and query like 'LISTEN %'",
    )
    .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let jobs = enqueue(&pool, [job(&act("heard"))]).await;
    sender.enqueued(&jobs);
    until_idle(&pool).await;
    process.stop().await;
    sender.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_delayed_job_starts_on_time(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        poll: NEVER,
        ..quick()
    };
    let started = Instant::now();
    enqueue(
        &pool,
        [job(&act("delayed")).delay(Duration::from_millis(400))],
    )
    .await;
    let process = Process::start(&pool, config, settings());
    until_idle(&pool).await;
    let took = started.elapsed();
    assert!(took > Duration::from_millis(350), "{took:?}");
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn the_depth_of_a_queue_tells_its_states_apart(pool: PgPool) {
    prepare(&pool).await;
    let failing = Act {
        at_first: vec![End::Abort],
        ..act("dead")
    };
    enqueue(&pool, [job(&failing)]).await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    enqueue(&pool, [job(&slow(60_000))]).await;
    until(
        &pool,
        "select exists (select from queue.jobs where state = 1)",
    )
    .await;
    let hour = Duration::from_hours(1);
    let mut conn = pool.acquire().await.unwrap();
    lanes::pause(&mut conn, WORK, lane(9), hour).await.unwrap();
    let due = || NewJob::new(WORK, lane(9), &act("due"));
    let enqueued = Instant::now();
    enqueue(&pool, [due(), due(), job(&act("scheduled")).delay(hour)]).await;
    let read = async |conn: &mut PgConnection, cap| {
        let read = depth::read(conn, &[(WORK, cap)], &[]).await.unwrap();
        let [work] = read.as_slice() else {
            panic!("{read:?}")
        };
        work.clone()
    };
    let work = read(&mut conn, 10).await;
    assert_eq!(
        (work.queue.as_str(), work.due, work.scheduled),
        ("work", 2, 1)
    );
    assert_eq!((work.running, work.dead), (1, 1));
    assert!(
        work.oldest_due_seconds > 0.0 && work.oldest_due_seconds < enqueued.elapsed().as_secs_f64()
    );
    // Nobody can run the two jobs, because their lane is paused. Later, the lane has a cap, or its
    // queue is paused.
    assert_eq!(work.runnable, 0);
    assert!(work.oldest_runnable_seconds.abs() < f64::EPSILON);
    process.abandon().await;
    sqlx::query("delete from queue.jobs where lane <> $1")
        .bind(lane(9))
        .execute(&mut *conn)
        .await
        .unwrap();
    lanes::resume(&mut conn, WORK, lane(9)).await.unwrap();
    let open = read(&mut conn, 10).await;
    assert_eq!(open.runnable, 2);
    assert!(open.oldest_runnable_seconds >= work.oldest_due_seconds);
    assert_eq!(read(&mut conn, 1).await.runnable, 1);
    lanes::set_cap(&mut conn, WORK, lane(9), Some(2))
        .await
        .unwrap();
    assert_eq!(read(&mut conn, 1).await.runnable, 2);
    // A running job takes room.
    sqlx::query(
        "update queue.jobs set state = 1, locked_by = gen_random_uuid()
          where id = (select min(id) from queue.jobs where state = 0)",
    )
    .execute(&mut *conn)
    .await
    .unwrap();
    assert_eq!(read(&mut conn, 1).await.runnable, 1);
    lanes::set_cap(&mut conn, WORK, lane(9), Some(1))
        .await
        .unwrap();
    let full = read(&mut conn, 10).await;
    assert_eq!(full.runnable, 0);
    assert!(full.oldest_due_seconds > 0.0 && full.oldest_runnable_seconds.abs() < f64::EPSILON);
    lanes::set_cap(&mut conn, WORK, lane(9), None)
        .await
        .unwrap();
    assert_eq!(read(&mut conn, 10).await.runnable, 1);
    queues::pause(&mut conn, WORK, hour).await.unwrap();
    assert_eq!(read(&mut conn, 10).await.runnable, 0);
}
