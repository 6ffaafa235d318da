//! Jobs that a process enqueues in a statement of its own and takes at once: `Queue::reservation`.

mod lost_jobs;

use std::time::Duration;

use queue::{Config, NewJobs, Queue, Reservation};
use sqlx::{PgExecutor, PgPool};

use crate::{
    preclaimed::watch_inserts,
    support::{Process, WORK, act, count, job, names, prepare, quick, settings, until, until_idle},
};

/// Inserts the jobs whose place is even, like a statement that admits only some.
async fn insert(
    conn: impl PgExecutor<'_>,
    jobs: &NewJobs,
    reservation: &Reservation,
) -> (Vec<i32>, Vec<Option<i64>>) {
    let (columns, held) = (jobs.columns().unwrap(), reservation.columns());
    sqlx::query_as(
        "with admitted as (
             select *
               from unnest($2::int[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::smallint[], $8::smallint[],
                           $9::bigint[], $10::smallint[], $11::bool[], $12::int[], $13::int[])
                    as j (place, queue, grp, lane, payload, format, priority, delay_ms, max_attempts, wanted, group_cap,
                          lane_cap)
              where place % 2 = 0
         )
         select e.places, e.ids
           from (select array_agg(place) as places, array_agg(queue) as queues, array_agg(grp) as groups,
                        array_agg(lane) as lanes, array_agg(payload) as payloads, array_agg(format) as formats,
                        array_agg(priority) as priorities, array_agg(delay_ms) as delays_ms,
                        array_agg(max_attempts) as max_attempts, array_agg(wanted) as wanted,
                        array_agg(group_cap) as group_caps, array_agg(lane_cap) as lane_caps
                   from admitted) a
          cross join lateral queue.enqueue_held($1, a.places, a.queues, a.groups, a.lanes, a.payloads, a.formats,
                                                a.priorities, a.delays_ms, a.max_attempts, a.wanted, a.group_caps,
                                                a.lane_caps) e",
    )
    .bind(held.worker)
    .bind(held.places)
    .bind(columns.queues)
    .bind(columns.groups)
    .bind(columns.lanes)
    .bind(columns.payloads)
    .bind(columns.formats)
    .bind(columns.priorities)
    .bind(columns.delays_ms)
    .bind(columns.max_attempts)
    .bind(held.wanted)
    .bind(held.group_caps)
    .bind(held.lane_caps)
    .fetch_one(conn)
    .await
    .unwrap()
}

fn six() -> NewJobs {
    (0..6).map(|n| job(&act(&n.to_string()))).collect()
}

const ROWS: &str = "select count(*) || ': ' || state || ' ' || fence || ' ' || attempt
                      from queue.jobs group by state, fence, attempt order by state";

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_was_admitted_of_an_offer_runs_without_a_claim(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let config = Config {
        poll: Duration::from_hours(1),
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    process.until_it_has_room(WORK).await;
    let jobs = six();
    let reservation = process.queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    assert_eq!(places, [0, 2, 4]);
    reservation.committed(&jobs, &places, &ids);
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects order by 1").await,
        ["0", "2", "4"]
    );
    assert_eq!(
        names(
            &pool,
            "select distinct state || ' ' || fence || ' ' || attempt from inserted"
        )
        .await,
        ["1 1 1"]
    );
    assert_eq!(process.started(), 3);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn when_nothing_is_admitted_nothing_is_inserted(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    process.until_it_has_room(WORK).await;
    let jobs = NewJobs::new();
    let reservation = process.queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    assert_eq!((places.len(), ids.len()), (0, 0));
    reservation.committed(&jobs, &places, &ids);
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 0);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_process_without_workers_enqueues_as_ever(pool: PgPool) {
    prepare(&pool).await;
    let queue = Queue::open(pool.clone(), quick()).unwrap();
    until(
        &pool,
        "select exists (select from queue.workers where expires_at > now())",
    )
    .await;
    let worker = Process::start(&pool, quick(), settings());
    let jobs = six();
    let reservation = queue.reserve(&jobs);
    assert_eq!(reservation.columns().wanted, [false; 6]);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    assert_eq!(ids, [None; 3]);
    reservation.committed(&jobs, &places, &ids);
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 3);
    worker.stop().await;
    queue.close(Duration::from_secs(5)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_delayed_job_is_not_offered(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    process.until_it_has_room(WORK).await;
    let jobs: NewJobs = [
        job(&act("now")),
        job(&act("never")),
        job(&act("soon")).delay(Duration::from_millis(100)),
    ]
    .into_iter()
    .collect();
    let reservation = process.queue.reserve(&jobs);
    assert_eq!(reservation.columns().wanted, [true, true, false]);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    assert_eq!(
        ids.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false]
    );
    reservation.committed(&jobs, &places, &ids);
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects order by 1").await,
        ["now", "soon"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_offer_that_is_dropped_gives_its_room_back(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings().prefetch(8));
    process.until_it_has_room(WORK).await;
    let jobs: NewJobs = (0..10).map(|n| job(&act(&n.to_string()))).collect();
    let wanted = |reservation: &Reservation| {
        reservation
            .columns()
            .wanted
            .iter()
            .filter(|&&one| one)
            .count()
    };
    let first = process.queue.reserve(&jobs);
    let room = wanted(&first);
    assert!(room > 0);
    assert_eq!(wanted(&process.queue.reserve(&jobs)), 0, "all is set aside");
    drop(first);
    assert_eq!(wanted(&process.queue.reserve(&jobs)), room);
    process.stop().await;
}
