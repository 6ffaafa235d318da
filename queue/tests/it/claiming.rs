//! Claims: fair, capped, paused, awake.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use queue::{Config, NewJob, lanes, queues, stats};
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;

use crate::support::{
    Act, End, Process, WORK, act, count, enqueue, job, lane, names, prepare, quick, settings,
    until, until_idle,
};

fn slow(ms: u64) -> Act {
    Act {
        sleep_ms: ms,
        ..act("slow")
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_lanes_cap_is_exact_over_all_processes(pool: PgPool) {
    prepare(&pool).await;
    enqueue(&pool, (0..60).map(|_| job(&slow(20)))).await;
    let one = Process::start(&pool, quick(), settings().lane_cap(3));
    let other = Process::start(&pool, quick(), settings().lane_cap(3));
    let mut most = 0;
    while count(&pool, "select count(*) from queue.jobs").await > 0 {
        let running = count(&pool, "select count(*) from queue.jobs where state = 1").await;
        most = most.max(running);
    }
    assert_eq!(most, 3);
    assert_eq!(count(&pool, "select count(*) from effects").await, 60);
    one.stop().await;
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_claim_counts_what_a_concurrent_claim_takes(pool: PgPool) {
    prepare(&pool).await;
    let claim = "select coalesce(array_length(ids, 1), 0)
                   from queue.claim(gen_random_uuid(), 'work', 9, gen_random_uuid(), 64, 3, null, 0::smallint)";
    enqueue(&pool, (0..5).map(|_| job(&act("early")))).await;
    let mut first = pool.begin().await.unwrap();
    let taken: i32 = sqlx::query_scalar(claim)
        .fetch_one(&mut *first)
        .await
        .unwrap();
    assert_eq!(taken, 3);
    // Others would be chosen now, so that no row lock comes to the rescue.
    enqueue(&pool, (0..5).map(|_| job(&act("urgent")).priority(9))).await;
    let second = tokio::spawn({
        let pool = pool.clone();
        async move {
            sqlx::query_scalar::<_, i32>(claim)
                .fetch_one(&pool)
                .await
                .unwrap()
        }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    first.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_capped_lane_goes_on_as_soon_as_there_is_room(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        poll: Duration::from_secs(5),
        ..quick()
    };
    enqueue(&pool, (0..50).map(|_| job(&act("quick")))).await;
    let process = Process::start(&pool, config, settings().lane_cap(2));
    let started = Instant::now();
    until_idle(&pool).await;
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "it waited for the poll"
    );
    assert_eq!(process.seen.most_running.load(SeqCst), 2);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_lanes_own_cap_replaces_the_default(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    lanes::set_cap(&mut conn, WORK, lane(1), Some(1))
        .await
        .unwrap();
    enqueue(&pool, (0..5).map(|_| job(&slow(20)))).await;
    let process = Process::start(&pool, quick(), settings().lane_cap(8));
    until_idle(&pool).await;
    assert_eq!(process.seen.most_running.load(SeqCst), 1);
    lanes::set_cap(&mut conn, WORK, lane(1), None)
        .await
        .unwrap();
    enqueue(&pool, (0..8).map(|_| job(&slow(100)))).await;
    until_idle(&pool).await;
    assert!(process.seen.most_running.load(SeqCst) > 1);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_paused_lane_waits_and_hides_no_other(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    // So many paused lanes before the open one that it takes several claims to come to it.
    sqlx::query(
        "insert into queue.lanes (queue, lane, paused_until)
         select 'work', lpad(to_hex(n), 32, '0')::uuid, now() + '1 hour'
           from generate_series(1, 2000) as n
          where n <> 1500",
    )
    .execute(&pool)
    .await
    .unwrap();
    let paused = (1..=2000).filter(|&n| n != 1500);
    enqueue(
        &pool,
        paused.map(|n| NewJob::new(WORK, lane(n), &act("paused"))),
    )
    .await;
    enqueue(&pool, [NewJob::new(WORK, lane(1500), &act("open"))]).await;
    // The poll would come too late: the walk itself must go on over them.
    let config = Config {
        poll: Duration::from_secs(5),
        ..quick()
    };
    let started = Instant::now();
    let process = Process::start(&pool, config, settings());
    until(
        &pool,
        "select exists (select from effects where name = 'open')",
    )
    .await;
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(names(&pool, "select name from effects").await, ["open"]);

    // A shorter pause does not shorten a longer one; a resume ends it.
    lanes::pause(&mut conn, WORK, lane(7), Duration::ZERO)
        .await
        .unwrap();
    lanes::resume(&mut conn, WORK, lane(8)).await.unwrap();
    process.queue.wake([WORK]);
    until(&pool, "select count(*) = 2 from effects").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        count(&pool, "select count(*) from queue.jobs where state = 0").await,
        1998
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn one_tenants_backlog_does_not_delay_another(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..10_000).map(|_| NewJob::new(WORK, lane(1), &slow(10))),
    )
    .await;
    let process = Process::start_with(&pool, quick(), settings(), 8, Duration::from_secs(10));
    until(&pool, "select exists (select from effects)").await;
    let before = process.started();
    let jobs = enqueue(
        &pool,
        (0..10).map(|_| NewJob::new(WORK, lane(2), &act("few"))),
    )
    .await;
    process.queue.enqueued(&jobs);
    until(
        &pool,
        "select count(*) = 10 from effects where name = 'few'",
    )
    .await;
    let others = process.started() - before;
    assert!(
        others < 250,
        "{others} jobs of the backlog were started first"
    );
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
async fn without_a_notification_the_poll_finds_the_job(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, Config::default(), settings());
    until(&pool, "select exists (select from queue.workers)").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    enqueue(&pool, [job(&act("unheard"))]).await;
    until_idle(&pool).await;
    assert!(started.elapsed() < Duration::from_secs(1));
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_notification_wakes_another_process_at_once(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        poll: Duration::from_secs(5),
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
    let started = Instant::now();
    let jobs = enqueue(&pool, [job(&act("heard"))]).await;
    sender.enqueued(&jobs);
    until_idle(&pool).await;
    assert!(
        started.elapsed() < Duration::from_millis(500),
        "{:?}",
        started.elapsed()
    );
    process.stop().await;
    sender.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_delayed_job_starts_on_time(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        poll: Duration::from_secs(5),
        ..quick()
    };
    enqueue(
        &pool,
        [job(&act("delayed")).delay(Duration::from_millis(400))],
    )
    .await;
    let started = Instant::now();
    let process = Process::start(&pool, config, settings());
    until_idle(&pool).await;
    let took = started.elapsed();
    assert!(
        took > Duration::from_millis(350) && took < Duration::from_millis(700),
        "{took:?}"
    );
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
    enqueue(&pool, [job(&slow(2000))]).await;
    until(
        &pool,
        "select exists (select from queue.jobs where state = 1)",
    )
    .await;
    let hour = Duration::from_hours(1);
    let mut conn = pool.acquire().await.unwrap();
    lanes::pause(&mut conn, WORK, lane(9), hour).await.unwrap();
    let due = || NewJob::new(WORK, lane(9), &act("due"));
    enqueue(&pool, [due(), due(), job(&act("scheduled")).delay(hour)]).await;
    let read = async |conn: &mut PgConnection, cap| {
        let read = stats::read(conn, &[(WORK, cap)], &[]).await.unwrap();
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
    assert!(work.oldest_due_seconds > 0.0 && work.oldest_due_seconds < 5.0);
    // Nobody can run the two: their lane is paused. Then it is not, but has a cap; or its queue is paused.
    assert_eq!(work.runnable, 0);
    process.abandon().await;
    sqlx::query("delete from queue.jobs where lane <> $1")
        .bind(lane(9))
        .execute(&mut *conn)
        .await
        .unwrap();
    lanes::resume(&mut conn, WORK, lane(9)).await.unwrap();
    assert_eq!(read(&mut conn, 10).await.runnable, 2);
    assert_eq!(read(&mut conn, 1).await.runnable, 1);
    lanes::set_cap(&mut conn, WORK, lane(9), Some(2))
        .await
        .unwrap();
    assert_eq!(read(&mut conn, 1).await.runnable, 2);
    // One that runs takes room.
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
    assert_eq!(read(&mut conn, 10).await.runnable, 0);
    lanes::set_cap(&mut conn, WORK, lane(9), None)
        .await
        .unwrap();
    assert_eq!(read(&mut conn, 10).await.runnable, 1);
    queues::pause(&mut conn, WORK, hour).await.unwrap();
    assert_eq!(read(&mut conn, 10).await.runnable, 0);
}
