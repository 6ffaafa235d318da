//! What operators see: jobs, lanes, workers and dead jobs.

use std::{collections::BTreeSet, time::Duration};

use queue::{
    DeathCause, JobId, Lane, dead_jobs,
    dead_jobs::Filter,
    lanes,
    live_jobs::{self, State},
    queues, workers,
};
use sqlx::PgPool;

use crate::support::{
    MORE, Process, WORK, act, enqueue, job, lane, prepare, quick, settings, until,
};

pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// Buries jobs 1 to `n`, ten at a time each second, in ten lanes; every hundredth with another
/// error.
pub(crate) async fn enqueue_dead(pool: &PgPool, n: i32) {
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
        let found = live_jobs::list(&mut conn, filter, 10).await.unwrap();
        let names = found.iter().map(|job| {
            let act: crate::support::Act = serde_json::from_str(&job.payload).unwrap();
            act.name
        });
        names.collect::<Vec<_>>()
    };
    let any = live_jobs::Filter::default();
    assert_eq!(find(any).await, ["due", "elsewhere", "later"]);
    let queue = Some("work");
    assert_eq!(
        find(live_jobs::Filter { queue, ..any }).await,
        ["due", "later"]
    );
    let lane = Some(lane(2));
    assert_eq!(find(live_jobs::Filter { lane, ..any }).await, ["elsewhere"]);
    let state = Some(State::Scheduled);
    assert_eq!(find(live_jobs::Filter { state, ..any }).await, ["later"]);
    let error = Some("503");
    assert_eq!(find(live_jobs::Filter { error, ..any }).await, ["later"]);
    let ids = Some([JobId(1), JobId(99)].as_slice());
    assert_eq!(find(live_jobs::Filter { ids, ..any }).await, ["due"]);
    let nothing = live_jobs::Filter { queue, lane, ..any };
    assert!(find(nothing).await.is_empty());
    assert_eq!(live_jobs::list(&mut conn, any, 2).await.unwrap().len(), 2);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn dead_jobs_are_paged_without_gap_or_repeat_and_summed_up(pool: PgPool) {
    enqueue_dead(&pool, 250).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut filter = Filter::default();
    let mut seen = Vec::new();
    loop {
        let page = dead_jobs::list(&mut conn, filter, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(last.place());
        seen.extend(page.iter().map(|job| job.id.0));
    }
    assert_eq!(seen, (1..=250).rev().collect::<Vec<_>>());

    let groups = dead_jobs::summary(&mut conn, Filter::default(), 10)
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
        dead_jobs::count(&mut pool.acquire().await.unwrap(), filter)
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
