//! Groups of lanes have equal shares, however many lanes each has.

mod caps;
mod old_binaries;

use std::{collections::HashMap, time::Duration};

use queue::{Group, Lane, NewJob};
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{
    Act, Process, WORK, act, count, enqueue, lane, prepare, quick, settings, until,
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

/// Claims like a new binary, without memory.
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
    process.until_started(8).await;
    // As many jobs are claimed ahead as possible before the other group comes.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(process.started(), 8, "a half of the slots");
    for n in 0..20 {
        let jobs = enqueue(&pool, [job_in(2, 0, &act(&format!("healthy {n}")))]).await;
        process.queue.enqueued(&jobs);
    }
    until(&pool, "select count(*) = 20 from effects").await;
    // The other lanes of the slow group have room, too.
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
    process.until_started(4).await;
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
