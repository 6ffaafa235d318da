//! What claims see and count while generations change.

use std::time::Duration;

use sqlx::{PgConnection, PgPool, Row as _};

use super::{leave, now, start_leaving};
use crate::generations::Leave;

const ONE_LANE: &str = "'00000000-0000-0000-0000-000000000001'";

const CLAIM_ONE: &str = "select coalesce(ids, '{}') as ids
                           from queue.claim(gen_random_uuid(), 'q', 1, gen_random_uuid(), 64, 1, null, 0::smallint)";

async fn enqueue_two_of_one_lane(conn: &mut PgConnection) {
    let jobs = format!(
        "insert into queue.jobs (queue, lane, payload, max_attempts)
         select 'q', {ONE_LANE}, '{{}}', 9 from generate_series(1, 2)"
    );
    sqlx::query(sqlx::AssertSqlSafe(jobs))
        .execute(conn)
        .await
        .unwrap();
}

async fn claim_one(conn: &mut PgConnection) -> usize {
    let claimed = sqlx::query(CLAIM_ONE).fetch_one(conn).await.unwrap();
    claimed.get::<Vec<i64>, _>("ids").len()
}

/// Found by the model of the generations.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_claim_that_waits_for_long_takes_nothing_where_others_do_not_count(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    enqueue_two_of_one_lane(&mut conn).await;
    let first = start_leaving(&mut conn, Leave::Young).await.condemned;
    leave(&mut conn, first.unwrap()).await.unwrap();
    // Somebody holds the lane, and a claim waits for it.
    let mut holder = pool.begin().await.unwrap();
    let lock = format!("select pg_advisory_xact_lock(hashtext('q'), uuid_hash({ONE_LANE}))");
    sqlx::query(sqlx::AssertSqlSafe(lock))
        .execute(&mut *holder)
        .await
        .unwrap();
    let slow = tokio::spawn({
        let pool = pool.clone();
        async move { claim_one(&mut pool.acquire().await.unwrap()).await }
    });
    let waits = "select exists (select from pg_stat_activity
                  where datname = current_database() and wait_event = 'advisory')";
    while !sqlx::query_scalar::<_, bool>(waits)
        .fetch_one(&pool)
        .await
        .unwrap()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let second = start_leaving(&mut conn, Leave::Young).await.condemned;
    sqlx::query("update queue.generations set condemned_at = now() - interval '1 minute'")
        .execute(&mut *conn)
        .await
        .unwrap();
    leave(&mut conn, second.unwrap()).await.unwrap();
    assert_eq!(now(&mut conn).await.condemned, second);
    holder.commit().await.unwrap();
    assert_eq!(slow.await.unwrap(), 1);
    assert_eq!(claim_one(&mut conn).await, 0, "its lane's cap is 1");
}

/// Found by the model of the generations.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn what_a_claim_counts_is_not_moved_out_of_its_sight(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    enqueue_two_of_one_lane(&mut conn).await;
    assert_eq!(claim_one(&mut conn).await, 1);
    // A claim that stopped after it looked up the live generations.
    let mut claim = pool.begin().await.unwrap();
    let live: Vec<i32> = sqlx::query_scalar(
        "select queue.live_generations()
           from pg_advisory_xact_lock_shared(hashtext('queue.claims'),
                                             pg_sequence_last_value('queue.young')::integer),
                queue.enter_generation()",
    )
    .fetch_one(&mut *claim)
    .await
    .unwrap();
    for _ in 0..2 {
        if let Some(condemned) = start_leaving(&mut conn, Leave::Old).await.condemned {
            leave(&mut conn, condemned).await.unwrap();
        }
    }
    let running = "select count(*) from queue.jobs where state = 1 and gen = any ($1)";
    let counted: i64 = sqlx::query_scalar(running)
        .bind(&live)
        .fetch_one(&mut *claim)
        .await
        .unwrap();
    assert_eq!(counted, 1, "looked for in {live:?}");
}
