//! When a generation is left: when its waste has cost as much as moving its live rows would.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use super::now;
use crate::generations::{Collector, Generations, Leave};

/// Waste is counted once. Then the entries are marked as dead, and a claim walks over their pages
/// without counting them.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn case_14_what_was_too_dear_to_leave_is_left_when_few_live_on(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    sqlx::query(
        "insert into queue.jobs (queue, lane, payload, max_attempts, gen)
         select 'q', gen_random_uuid(), '{}', 9, 1 from generate_series(1, 3000)",
    )
    .execute(&mut *conn)
    .await
    .unwrap();
    let mut collector = Collector::default();
    let fresh = now(&mut conn).await;
    assert_eq!(collector.choose(&mut conn, &fresh).await.unwrap(), None);
    let wasted = Generations {
        wasted: fresh.wasted + 100_000,
        ..fresh.clone()
    };
    for _ in 0..9 {
        let choice = collector.choose(&mut conn, &wasted).await.unwrap();
        assert_eq!(choice, None, "3,000 moves cost more than was lost");
    }
    sqlx::query("delete from queue.jobs where id > 100")
        .execute(&mut *conn)
        .await
        .unwrap();
    let mut rounds = 0;
    while collector.choose(&mut conn, &wasted).await.unwrap() != Some(Leave::Young) {
        rounds += 1;
        assert!(rounds < 3, "not after {rounds} rounds");
    }
}

/// The blocks that a claim reads. This measures its work independently of the machine.
async fn blocks_of_a_claim(conn: &mut PgConnection) -> i64 {
    let plan: serde_json::Value = sqlx::query_scalar(
        "explain (analyze, buffers, timing off, format json)
         select * from queue.claim(gen_random_uuid(), 'q', 100, gen_random_uuid(), 64, 5, null, 0::smallint)",
    )
    .fetch_one(conn)
    .await
    .unwrap();
    plan[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
        + plan[0]["Plan"]["Shared Read Blocks"].as_i64().unwrap()
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn an_old_snapshot_does_not_make_claims_walk_over_what_is_done(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    let mut snapshot = pool.begin().await.unwrap();
    sqlx::raw_sql(
        "set transaction isolation level repeatable read; select count(*) from queue.jobs",
    )
    .execute(&mut *snapshot)
    .await
    .unwrap();
    let mut collector = Collector::default();
    collector.round(&mut conn).await.unwrap();
    let fresh = blocks_of_a_claim(&mut conn).await;
    // 20,000 jobs in 500 lanes come and go.
    sqlx::raw_sql(
        "insert into queue.jobs (queue, lane, payload, max_attempts, gen)
         select 'q', lpad(to_hex(n % 500), 32, '0')::uuid, '{}', 9, 1
           from generate_series(1, 20000) n;
         update queue.jobs set state = 1, locked_by = gen_random_uuid();
         delete from queue.jobs",
    )
    .execute(&mut *conn)
    .await
    .unwrap();
    let walking = blocks_of_a_claim(&mut conn).await;
    assert!(
        walking > 20_000,
        "{walking} blocks: nothing to leave behind"
    );

    // The server counts the entries that the claims met, and publishes the count at most once a
    // second.
    let young = now(&mut conn).await.young;
    let left = async {
        while now(&mut conn).await.young == young || now(&mut conn).await.condemned.is_some() {
            blocks_of_a_claim(&mut conn).await;
            collector.round(&mut conn).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), left)
        .await
        .expect("the generation is left");
    let after = blocks_of_a_claim(&mut conn).await;
    assert!(after < fresh + 200, "{after} blocks, at first {fresh}");
}
