//! Caps and pauses of groups: exact over all processes and lanes.

use std::time::Duration;

use queue::{depth, groups, lanes};
use sqlx::{PgConnection, PgPool};

use super::{claim, group, job_in, lasting};
use crate::support::{Process, WORK, act, count, enqueue, lane, prepare, quick, settings};

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
    // With few due jobs, and with many.
    for limit in [500, 8] {
        let open = (0..4).map(|_| job_in(2, 1, &act("open")));
        enqueue(&pool, open).await;
        let claimed = claim(&pool, limit, None).await;
        assert_eq!(claimed, [(group(2), lane(2_001)); 4]);
    }
    let runnable = async |conn: &mut PgConnection, group_cap| {
        let read = depth::read(conn, &[], &[(WORK, group_cap)]).await.unwrap();
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
