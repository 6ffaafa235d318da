//! Dead jobs are run again, each once.

use queue::{
    Config,
    dead_jobs::{Filter, Replay},
};
use sqlx::PgPool;

use crate::listings::{HOUR, enqueue_dead};
use crate::pausing::enqueue_and_finish;
use crate::support::{Process, count, lane, names, prepare, quick, settings, until};

async fn replay_all(pool: &PgPool, filter: Filter<'_>, limit: u32) -> u64 {
    let mut conn = pool.acquire().await.unwrap();
    let mut replay = Replay::begin(&mut conn, filter).await.unwrap();
    let mut replayed = 0;
    for _ in 0..1_000 {
        let batch = replay.next(&mut conn, limit).await.unwrap();
        replayed += batch.replayed;
        if batch.is_last {
            return replayed;
        }
    }
    panic!("the replay does not end");
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_replay_takes_every_match_once_and_leaves_the_rest(pool: PgPool) {
    enqueue_dead(&pool, 1_000).await;
    let filter = Filter {
        error: Some("10.0.0.7"),
        ..Filter::default()
    };
    // Batches that visit fewer jobs than there are between two matches.
    assert_eq!(replay_all(&pool, filter, 13).await, 10);
    let replayed = "select payload ->> 'name' from queue.jobs order by id";
    let hundreds: Vec<String> = (1..=10).map(|n| (n * 100).to_string()).collect();
    assert_eq!(names(&pool, replayed).await, hundreds);
    let lane = Some(lane(3));
    let of_a_lane = Filter {
        lane,
        ..Filter::default()
    };
    assert_eq!(replay_all(&pool, of_a_lane, 13).await, 100);
    assert_eq!(replay_all(&pool, Filter::default(), 13).await, 890);
    let distinct = "select count(distinct payload ->> 'name') from queue.jobs";
    assert_eq!(count(&pool, distinct).await, 1_000);
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 1_000);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_dies_during_a_replay_is_not_replayed_by_it(pool: PgPool) {
    enqueue_dead(&pool, 30).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut replay = Replay::begin(&mut conn, Filter::default()).await.unwrap();
    let mut replayed = 0;
    for _ in 0..30 {
        let batch = replay.next(&mut conn, 10).await.unwrap();
        replayed += batch.replayed;
        // Every replayed job dies again at once.
        sqlx::query(
            "with gone as (delete from queue.jobs returning *)
             insert into queue.dead_jobs
                    (id, queue, lane, priority, attempt, max_attempts, created_at, cause, error, payload)
             select id, queue, lane, priority, 1, max_attempts, created_at, 'aborted', '', payload from gone",
        )
        .execute(&pool)
        .await
        .unwrap();
        if batch.is_last {
            break;
        }
    }
    assert_eq!(replayed, 30);
    let again = "select count(*) from queue.dead_jobs where cause = 'aborted'";
    assert_eq!(count(&pool, again).await, 30);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn replays_at_once_share_the_work(pool: PgPool) {
    enqueue_dead(&pool, 2_000).await;
    let any = Filter::default();
    let (a, b, c) = tokio::join!(
        replay_all(&pool, any, 50),
        replay_all(&pool, any, 70),
        replay_all(&pool, any, 110),
    );
    assert_eq!(a + b + c, 2_000);
    let distinct = "select count(distinct payload ->> 'name') from queue.jobs";
    assert_eq!(count(&pool, distinct).await, 2_000);
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 2_000);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_replay_waits_for_nobody_and_finds_the_rest_when_it_is_rewound(pool: PgPool) {
    enqueue_dead(&pool, 30).await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select from queue.dead_jobs where id between 5 and 8 for update")
        .execute(&mut *holder)
        .await
        .unwrap();
    let mut conn = pool.acquire().await.unwrap();
    sqlx::query("set lock_timeout = '3s'")
        .execute(&mut *conn)
        .await
        .unwrap();
    let mut replay = Replay::begin(&mut conn, Filter::default()).await.unwrap();
    assert_eq!(replay.next(&mut conn, 10).await.unwrap().replayed, 6);
    holder.rollback().await.unwrap();
    let rest = replay.next(&mut conn, 100).await.unwrap();
    assert_eq!((rest.replayed, rest.is_last), (20, true));
    replay.rewind();
    assert_eq!(replay.next(&mut conn, 100).await.unwrap().replayed, 4);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_replay_s_jobs_run_as_soon_as_their_workers_are_woken(pool: PgPool) {
    prepare(&pool).await;
    enqueue_dead(&pool, 20).await;
    let config = Config {
        poll: HOUR,
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    // The worker has claimed in vain, and sleeps.
    enqueue_and_finish(&pool, &process.queue).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut replay = Replay::begin(&mut conn, Filter::default()).await.unwrap();
    let batch = replay.next(&mut conn, 50).await.unwrap();
    assert_eq!(batch.queues, ["work"]);
    queue::wake(&mut conn, &batch.queues).await.unwrap();
    until(&pool, "select count(distinct name) = 21 from effects").await;
    process.stop().await;
}
