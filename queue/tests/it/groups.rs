//! Groups of lanes: shares, rooms, caps and pauses on two levels, and what older binaries see of them.

use std::{collections::HashMap, sync::atomic::Ordering::SeqCst, time::Duration};

use queue::{Group, Lane, NewJob, groups, lanes, stats};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::support::{
    Act, Process, WORK, act, count, enqueue, lane, names, prepare, quick, settings, until,
    until_idle,
};

fn group(n: u128) -> Group {
    Group(Uuid::from_u128(n))
}

/// A job of the m-th lane of a group.
fn job_in(n: u128, m: u128, act: &Act) -> NewJob {
    NewJob::new(WORK, lane(1_000 * n + m), act).group(group(n))
}

fn lasting(name: &str, ms: u64) -> Act {
    Act {
        sleep_ms: ms,
        ..act(name)
    }
}

/// Claims as a new binary does, without memory.
async fn claim(pool: &PgPool, limit: i32, group_cap: Option<i32>) -> Vec<(Group, Lane)> {
    let (groups, lanes): (Option<Vec<Group>>, Option<Vec<Lane>>) = sqlx::query_as(
        "select groups, lanes
           from queue.claim(gen_random_uuid(), 'work', $1, gen_random_uuid(), 64, null, $2, 0::smallint)",
    )
    .bind(limit)
    .bind(group_cap)
    .fetch_one(pool)
    .await
    .unwrap();
    let groups = groups.unwrap_or_default().into_iter();
    groups.zip(lanes.unwrap_or_default()).collect()
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_hundred_lanes_of_one_group_get_no_more_than_one_lane_of_another(pool: PgPool) {
    let many = (0..300).map(|n| job_in(1, n % 100, &act("many")));
    let one = (0..100).map(|_| job_in(2, 0, &act("one")));
    enqueue(&pool, many.chain(one)).await;
    let claimed = claim(&pool, 40, None).await;
    let of_one = claimed.iter().filter(|(other, _)| *other == group(2));
    assert_eq!((claimed.len(), of_one.count()), (40, 20));
    let mut lanes = HashMap::<Lane, u32>::new();
    for (_, lane) in claimed.iter().filter(|(other, _)| *other == group(1)) {
        *lanes.entry(*lane).or_default() += 1;
    }
    assert_eq!(lanes.len(), 20, "each lane of the other has one");
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_15_a_group_with_a_hundred_slow_lanes_does_not_delay_a_healthy_one(pool: PgPool) {
    prepare(&pool).await;
    let slow = (0..500).map(|n| job_in(1, n % 100, &lasting("slow", 60_000)));
    enqueue(&pool, slow).await;
    let process = Process::start_with(
        &pool,
        quick(),
        settings().prefetch(16).slots(16),
        16,
        Duration::from_mins(2),
    );
    until(
        &pool,
        "select count(*) >= 8 from queue.jobs where state = 1",
    )
    .await;
    // Claimed ahead as much as it can be, before anybody else comes.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(process.started(), 8, "a half of the slots");
    for n in 0..20 {
        let jobs = enqueue(&pool, [job_in(2, 0, &act(&format!("healthy {n}")))]).await;
        process.queue.enqueued(&jobs);
    }
    until(&pool, "select count(*) = 20 from effects").await;
    // And of the slow group's own lanes.
    enqueue(&pool, [job_in(1, 500, &act("healthy lane"))]).await;
    process.abandon().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_15_a_slow_lane_does_not_delay_another_of_its_group(pool: PgPool) {
    prepare(&pool).await;
    let slow = (0..500).map(|_| job_in(1, 1, &lasting("slow", 60_000)));
    enqueue(&pool, slow).await;
    let process = Process::start_with(
        &pool,
        quick(),
        settings().prefetch(16).slots(16),
        16,
        Duration::from_mins(2),
    );
    until(
        &pool,
        "select count(*) >= 4 from queue.jobs where state = 1",
    )
    .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(process.started(), 4, "a half of the half of its group");
    for n in 0..20 {
        let jobs = enqueue(&pool, [job_in(1, 2, &act(&format!("healthy {n}")))]).await;
        process.queue.enqueued(&jobs);
    }
    until(&pool, "select count(*) = 20 from effects").await;
    process.abandon().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn the_lanes_of_a_group_have_their_turns(pool: PgPool) {
    prepare(&pool).await;
    let of_group = |n: u128| {
        (0..20 * 40).map(move |m| job_in(n, m % 40, &lasting(&format!("{n}/{}", m % 40), 1)))
    };
    enqueue(&pool, of_group(1).chain(of_group(2))).await;
    let process = Process::start_with(
        &pool,
        quick(),
        settings().prefetch(4),
        4,
        Duration::from_secs(10),
    );
    until(&pool, "select count(*) >= 480 from effects").await;
    process.abandon().await;
    let served = "select min(n) from (select count(*) as n from effects group by name) as s";
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        80
    );
    let least = count(&pool, served).await;
    assert!(
        least >= 4,
        "the least served lane was served {least} times of about 6"
    );
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_groups_cap_is_exact_over_all_processes_and_lanes(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..60).map(|n| job_in(1, n % 7, &lasting("capped", 20))),
    )
    .await;
    let one = Process::start(&pool, quick(), settings().group_cap(3));
    let other = Process::start(&pool, quick(), settings().group_cap(3).lane_cap(2));
    let mut most = 0;
    while count(&pool, "select count(*) from queue.jobs").await > 0 {
        let running = count(&pool, "select count(*) from queue.jobs where state = 1").await;
        most = most.max(running);
    }
    assert_eq!(most, 3);
    assert_eq!(count(&pool, "select count(*) from effects").await, 60);
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(count(&pool, deadlocks).await, 0);
    one.stop().await;
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_groups_own_cap_replaces_the_default_and_holds_beside_those_of_its_lanes(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    groups::set_cap(&mut conn, WORK, group(1), Some(4))
        .await
        .unwrap();
    lanes::set_cap(&mut conn, WORK, lane(1_000), Some(1))
        .await
        .unwrap();
    enqueue(&pool, (0..20).map(|n| job_in(1, n % 2, &act("capped")))).await;
    let claimed = claim(&pool, 20, Some(9)).await;
    let of_capped = claimed.iter().filter(|(_, other)| *other == lane(1_000));
    assert_eq!(
        (claimed.len(), of_capped.count()),
        (3, 1),
        "equal shares of 4, and 1"
    );
    assert_eq!(claim(&pool, 20, Some(9)).await.len(), 1);
    assert_eq!(claim(&pool, 20, Some(9)).await.len(), 0);
    groups::set_cap(&mut conn, WORK, group(1), None)
        .await
        .unwrap();
    assert_eq!(claim(&pool, 20, Some(9)).await.len(), 5);
    assert_eq!(
        claim(&pool, 20, None).await.len(),
        2,
        "what is left of the other lane's ten"
    );
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_claim_counts_what_a_concurrent_claim_takes_from_another_lane_of_the_group(pool: PgPool) {
    let claim_one = "select coalesce(cardinality(ids), 0)::bigint
                       from queue.claim(gen_random_uuid(), 'work', 9, gen_random_uuid(), 64, null, 3, 0::smallint)";
    enqueue(&pool, (0..5).map(|_| job_in(1, 1, &act("early")))).await;
    let mut first = pool.begin().await.unwrap();
    let taken: i64 = sqlx::query_scalar(claim_one)
        .fetch_one(&mut *first)
        .await
        .unwrap();
    assert_eq!(taken, 3);
    enqueue(&pool, (0..5).map(|_| job_in(1, 2, &act("late")))).await;
    let second = tokio::spawn({
        let pool = pool.clone();
        async move { count(&pool, claim_one).await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    first.commit().await.unwrap();
    assert_eq!(second.await.unwrap(), 0);
    assert_eq!(count(&pool, claim_one).await, 0);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_paused_group_waits_with_all_its_lanes_and_hides_no_other(pool: PgPool) {
    prepare(&pool).await;
    let mut conn = pool.acquire().await.unwrap();
    groups::pause(&mut conn, WORK, group(1), Duration::from_hours(1))
        .await
        .unwrap();
    let paused = (0..200).map(|n| job_in(1, n, &act("paused")));
    enqueue(&pool, paused).await;
    // Few due jobs, and many.
    for limit in [500, 8] {
        let open = (0..4).map(|_| job_in(2, 1, &act("open")));
        enqueue(&pool, open).await;
        let claimed = claim(&pool, limit, None).await;
        assert_eq!(claimed, [(group(2), lane(2_001)); 4]);
    }
    let runnable = async |conn: &mut PgConnection, group_cap| {
        let read = stats::read(conn, &[], &[(WORK, group_cap)]).await.unwrap();
        read[0].runnable
    };
    assert_eq!(runnable(&mut conn, 9).await, 0);
    // A shorter pause does not shorten a longer one.
    groups::pause(&mut conn, WORK, group(1), Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(claim(&pool, 500, None).await.len(), 0);
    let paused = groups::read(&mut conn, WORK, group(1)).await.unwrap();
    assert!(paused.is_paused);
    assert_eq!((paused.due, paused.running), (200, 0));
    assert_eq!(groups::list(&mut conn, 0, 10).await.unwrap(), [paused]);
    assert!(groups::resume(&mut conn, WORK, group(1)).await.unwrap());
    assert!(!groups::resume(&mut conn, WORK, group(1)).await.unwrap());
    assert_eq!(runnable(&mut conn, 9).await, 9, "of 200");
    groups::set_cap(&mut conn, WORK, group(1), Some(300))
        .await
        .unwrap();
    assert_eq!(runnable(&mut conn, 9).await, 200);
    groups::set_cap(&mut conn, WORK, group(1), None)
        .await
        .unwrap();
    assert_eq!(claim(&pool, 500, None).await.len(), 200);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_group_without_room_is_left_out_and_its_backlog_is_not_walked_over(pool: PgPool) {
    enqueue(&pool, (0..2_000).map(|n| job_in(1, n % 50, &act("full")))).await;
    enqueue(&pool, (0..50).map(|_| job_in(2, 1, &act("room")))).await;
    let claim = |room: i32| {
        sqlx::query_as::<_, (Option<Vec<Group>>, i32)>(
            "select groups, visited
               from queue.claim(gen_random_uuid(), 'work', 30, gen_random_uuid(), 64, null, null, 0::smallint,
                                p_room => 60, p_groups => $1, p_group_rooms => $2)",
        )
        .bind([group(1)])
        .bind([room])
        .fetch_one(&pool)
    };
    let (groups, visited) = claim(0).await.unwrap();
    assert_eq!(groups.unwrap(), [group(2); 30]);
    assert!(visited <= 2, "{visited} visited");
    let (groups, _) = claim(4).await.unwrap();
    let groups = groups.unwrap();
    assert_eq!(groups.iter().filter(|other| **other == group(1)).count(), 4);
}

/// As binaries did that know nothing of groups and formats.
async fn claim_as_before(pool: &PgPool, limit: i32, cap: Option<i32>) -> Vec<i64> {
    let ids: Option<Vec<i64>> = sqlx::query_scalar(
        "select ids from queue.claim(gen_random_uuid(), 'work', $1, gen_random_uuid(), 64, $2)",
    )
    .bind(limit)
    .bind(cap)
    .fetch_one(pool)
    .await
    .unwrap();
    ids.unwrap_or_default()
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_older_binary_claims_no_job_whose_payload_it_would_misread(pool: PgPool) {
    let new = |n: u128| job_in(1, n % 5, &act("new")).format(1);
    // Both in one lane, the new ones first by priority; and a lane of new ones alone.
    enqueue(&pool, (0..50).map(|n| new(n).priority(5))).await;
    enqueue(&pool, (0..50).map(|n| job_in(1, n % 4, &act("old")))).await;
    let mut claimed = 0;
    loop {
        let ids = claim_as_before(&pool, 7, None).await;
        if ids.is_empty() {
            break;
        }
        claimed += ids.len();
    }
    assert_eq!(claimed, 50);
    let left = "select count(*) from queue.jobs where state = 0 and format = 1";
    assert_eq!(count(&pool, left).await, 50);
    let taken = "select count(*) from queue.jobs where state = 1 and format = 0";
    assert_eq!(count(&pool, taken).await, 50);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_lanes_cap_holds_over_jobs_of_older_and_of_newer_binaries(pool: PgPool) {
    // An older binary puts the jobs of a lane into a group of its own.
    sqlx::query(
        "select queue.enqueue(array_fill('work'::text, array[10]), array_fill($1::uuid, array[10]),
                              array_fill('{}'::text, array[10]), array_fill(0::smallint, array[10]),
                              array_fill(0::bigint, array[10]), array_fill(5::smallint, array[10]))",
    )
    .bind(lane(1_001))
    .execute(&pool)
    .await
    .unwrap();
    enqueue(&pool, (0..10).map(|_| job_in(1, 1, &act("new")))).await;
    let groups = "select count(distinct grp) from queue.jobs";
    assert_eq!(count(&pool, groups).await, 2);
    let mut running = 0;
    for _ in 0..4 {
        running += claim_as_before(&pool, 3, Some(5)).await.len();
        let newer: i64 = sqlx::query_scalar(
            "select coalesce(cardinality(ids), 0)::bigint
               from queue.claim(gen_random_uuid(), 'work', 3, gen_random_uuid(), 64, 5, null, 1::smallint)",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        running += usize::try_from(newer).unwrap();
    }
    assert_eq!(running, 5);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_process_works_on_groups_whose_jobs_were_enqueued_by_anybody(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        (0..30).map(|n| job_in(n % 3, n % 5, &act("grouped"))),
    )
    .await;
    enqueue(
        &pool,
        (0..10).map(|n| NewJob::new(WORK, lane(n), &act("alone"))),
    )
    .await;
    let process = Process::start(
        &pool,
        quick(),
        settings().slots(16).lane_cap(2).group_cap(4),
    );
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select name from effects where name = 'alone'")
            .await
            .len(),
        10
    );
    assert_eq!(count(&pool, "select count(*) from effects").await, 40);
    assert!(process.seen.most_running.load(SeqCst) > 1);
    process.stop().await;
}
