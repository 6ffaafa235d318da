//! Caps and pauses of lanes: exact over all processes.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use queue::{Config, NewJob, lanes};
use sqlx::PgPool;

use crate::support::{
    Act, NEVER, Process, WORK, act, count, enqueue, job, lane, names, prepare, quick, settings,
    until, until_idle,
};

pub(crate) fn slow(ms: u64) -> Act {
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
    // A claim would choose other jobs now, so row locks do not help.
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
        poll: NEVER,
        ..quick()
    };
    enqueue(&pool, (0..50).map(|_| job(&act("quick")))).await;
    let process = Process::start(&pool, config, settings().lane_cap(2));
    until_idle(&pool).await;
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
    // So many paused lanes stand before the open one that it takes several claims to reach it.
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
    // The poll would come too late: the walk itself must pass the paused lanes.
    let config = Config {
        poll: NEVER,
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    until(
        &pool,
        "select exists (select from effects where name = 'open')",
    )
    .await;
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
