//! What operators do: look at jobs, lanes and workers, pause, and replay the dead.

use std::{collections::BTreeSet, time::Duration};

use queue::{
    Config, DeathCause, JobId, Lane, Queue, dead,
    dead::{Filter, Replay},
    jobs::{self, State},
    lanes, queues, workers,
};
use sqlx::PgPool;

use crate::support::{
    MORE, Process, WORK, act, count, enqueue, job, lane, names, prepare, quick, settings, until,
    until_idle,
};

const HOUR: Duration = Duration::from_hours(1);

/// Buries jobs 1 to `n`, ten at a time each second, in ten lanes; every hundredth with another error.
async fn bury(pool: &PgPool, n: i32) {
    sqlx::query(
        "insert into queue.dead_jobs
                  (id, queue, lane, priority, attempt, max_attempts, created_at, died_at, cause, error, payload)
           select i, 'work', lpad(to_hex(i % 10), 32, '0')::uuid, 0, 3, 3, now(),
                  now() - interval '1 day' + (i - 1) / 10 * interval '1 s', 'exhausted',
                  case when i % 100 = 0 then 'no route to 10.0.0.7' else 'answered 503' end,
                  json_build_object('name', i::text, 'sleep_ms', 0, 'at_first', array[]::text[],
                                    'poison', false, 'follow_up', false)
             from generate_series(1, $1) i
            order by md5(i::text)",
    )
    .bind(n)
    .execute(pool)
    .await
    .unwrap();
}

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
async fn live_jobs_are_found_by_each_condition(pool: PgPool) {
    enqueue(
        &pool,
        [
            job(&act("due")),
            job(&act("later")).delay(HOUR),
            queue::NewJob::new(MORE, lane(2), &act("elsewhere")),
        ],
    )
    .await;
    sqlx::query(
        "update queue.jobs set last_error = 'answered 503' where payload ->> 'name' = 'later'",
    )
    .execute(&pool)
    .await
    .unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let mut find = async |filter| {
        let found = jobs::list(&mut conn, filter, 10).await.unwrap();
        let names = found.iter().map(|job| {
            let act: crate::support::Act = serde_json::from_str(&job.payload).unwrap();
            act.name
        });
        names.collect::<Vec<_>>()
    };
    let any = jobs::Filter::default();
    assert_eq!(find(any).await, ["due", "elsewhere", "later"]);
    let queue = Some("work");
    assert_eq!(find(jobs::Filter { queue, ..any }).await, ["due", "later"]);
    let lane = Some(lane(2));
    assert_eq!(find(jobs::Filter { lane, ..any }).await, ["elsewhere"]);
    let state = Some(State::Scheduled);
    assert_eq!(find(jobs::Filter { state, ..any }).await, ["later"]);
    let error = Some("503");
    assert_eq!(find(jobs::Filter { error, ..any }).await, ["later"]);
    let ids = Some([JobId(1), JobId(99)].as_slice());
    assert_eq!(find(jobs::Filter { ids, ..any }).await, ["due"]);
    let nothing = jobs::Filter { queue, lane, ..any };
    assert!(find(nothing).await.is_empty());
    assert_eq!(jobs::list(&mut conn, any, 2).await.unwrap().len(), 2);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn dead_jobs_are_paged_without_gap_or_repeat_and_summed_up(pool: PgPool) {
    bury(&pool, 250).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut filter = Filter::default();
    let mut seen = Vec::new();
    loop {
        let page = dead::list(&mut conn, filter, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(last.place());
        seen.extend(page.iter().map(|job| job.id.0));
    }
    assert_eq!(seen, (1..=250).rev().collect::<Vec<_>>());

    let groups = dead::summary(&mut conn, Filter::default(), 10)
        .await
        .unwrap();
    let groups: Vec<_> = groups
        .iter()
        .map(|group| (group.error.as_str(), group.jobs, group.lanes))
        .collect();
    assert_eq!(
        groups,
        [("answered 503", 248, 10), ("no route to 10.0.0.7", 2, 1)]
    );
    let counts = async |filter| {
        dead::count(&mut pool.acquire().await.unwrap(), filter)
            .await
            .unwrap()
    };
    let any = Filter::default();
    let error = Some("10.0.0.7");
    assert_eq!(counts(Filter { error, ..any }).await, 2);
    let lane = Some(lane(4));
    assert_eq!(counts(Filter { lane, ..any }).await, 25);
    let cause = Some(DeathCause::Aborted);
    assert_eq!(counts(Filter { cause, ..any }).await, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_replay_takes_every_match_once_and_leaves_the_rest(pool: PgPool) {
    bury(&pool, 1_000).await;
    let filter = Filter {
        error: Some("10.0.0.7"),
        ..Filter::default()
    };
    // Batches that visit fewer jobs than lie between two matches.
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
    bury(&pool, 30).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut replay = Replay::begin(&mut conn, Filter::default()).await.unwrap();
    let mut replayed = 0;
    for _ in 0..30 {
        let batch = replay.next(&mut conn, 10).await.unwrap();
        replayed += batch.replayed;
        // Whatever was replayed dies again at once.
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
    bury(&pool, 2_000).await;
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
    bury(&pool, 30).await;
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
    bury(&pool, 20).await;
    let config = Config {
        poll: HOUR,
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    // It has claimed in vain and sleeps.
    enqueue_and_finish(&pool, &process.queue).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut replay = Replay::begin(&mut conn, Filter::default()).await.unwrap();
    let batch = replay.next(&mut conn, 50).await.unwrap();
    assert_eq!(batch.queues, ["work"]);
    queue::wake(&mut conn, &batch.queues).await.unwrap();
    until(&pool, "select count(distinct name) = 21 from effects").await;
    process.stop().await;
}

async fn enqueue_and_finish(pool: &PgPool, queue: &Queue) {
    let jobs = enqueue(pool, [job(&act("first"))]).await;
    queue.enqueued(&jobs);
    until_idle(pool).await;
    // The claim that finds nothing more.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_paused_queue_starts_nothing_until_it_is_resumed(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    queues::pause(&mut conn, WORK, None).await.unwrap();
    // A shorter pause does not end a longer one.
    queues::pause(&mut conn, WORK, Duration::from_millis(1))
        .await
        .unwrap();
    enqueue(&pool, [job(&act("held"))]).await;
    for _ in 0..2 {
        let process = Process::start(&pool, quick(), settings());
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(process.started(), 0, "a paused queue was worked on");
        process.stop().await;
    }
    let process = Process::start(&pool, quick(), settings());
    assert!(queues::resume(&mut conn, WORK).await.unwrap());
    assert!(!queues::resume(&mut conn, WORK).await.unwrap());
    until_idle(&pool).await;
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_pause_of_a_queue_ends_by_itself_and_holds_no_other_queue(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    queues::pause(&mut conn, MORE, None).await.unwrap();
    queues::pause(&mut conn, WORK, Duration::from_millis(900))
        .await
        .unwrap();
    enqueue(&pool, [job(&act("held"))]).await;
    let process = Process::start(&pool, quick(), settings());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(process.started(), 0, "a paused queue was worked on");
    until_idle(&pool).await;
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_holds_the_queue_back_and_who_works_can_be_seen(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    lanes::pause(&mut conn, WORK, lane(1), None).await.unwrap();
    lanes::pause(&mut conn, WORK, lane(2), HOUR).await.unwrap();
    lanes::pause(&mut conn, WORK, lane(3), Duration::ZERO)
        .await
        .unwrap();
    lanes::set_cap(&mut conn, WORK, lane(2), Some(4))
        .await
        .unwrap();
    queues::pause(&mut conn, MORE, HOUR).await.unwrap();
    let at = |n, name: &str| queue::NewJob::new(WORK, lane(n), &act(name));
    enqueue(&pool, [at(1, "a"), at(1, "b"), at(5, "c"), at(6, "d")]).await;

    let seen = queues::restrictions(&mut conn).await.unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|r| {
            (
                r.queue.as_str(),
                r.is_paused,
                r.paused_lanes,
                r.capped_lanes,
            )
        })
        .collect();
    assert_eq!(seen, [("more", true, 0, 0), ("work", false, 2, 1)]);

    let listed = lanes::list(&mut conn, 2, 100).await.unwrap();
    let shown: Vec<_> = listed
        .iter()
        .map(|l| (l.lane, l.due, l.cap, l.is_paused, l.paused_until.is_some()))
        .collect();
    assert_eq!(
        shown,
        [
            (lane(1), 2, None, true, false),
            (lane(5), 1, None, false, false),
            (lane(2), 0, Some(4), true, true),
        ]
    );
    for lane in listed {
        assert_eq!(lanes::read(&mut conn, WORK, lane.lane).await.unwrap(), lane);
    }

    assert!(workers::living(&mut conn).await.unwrap().is_empty());
    let process = Process::start(&pool, quick(), settings());
    until(&pool, "select count(*) = 2 from effects").await;
    let living = workers::living(&mut conn).await.unwrap();
    assert_eq!(living.len(), 1);
    assert_eq!(living[0].id, process.queue.worker_id());
    assert!(living[0].lease_left_seconds > 0.0);
    process.stop().await;
    assert!(workers::living(&mut conn).await.unwrap().is_empty());

    let resumed: BTreeSet<(Lane, bool)> = [
        (
            lane(1),
            lanes::resume(&mut conn, WORK, lane(1)).await.unwrap(),
        ),
        (
            lane(3),
            lanes::resume(&mut conn, WORK, lane(3)).await.unwrap(),
        ),
    ]
    .into();
    assert_eq!(resumed, [(lane(1), true), (lane(3), false)].into());
}
