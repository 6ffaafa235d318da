//! The statements of the hot path keep good plans, whatever the table looked like when the plans
//! were made.
//!
//! To Postgres, a drained queue is an empty table, which it scans from end to end. If a session
//! kept such a plan, a claim would take seconds once a hundred thousand jobs have come, until the
//! next analyze.

use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

/// Each statement with the blocks that it may read. The table has 1,200, and a scan of it for each
/// of 64 lanes reads 200,000.
const STATEMENTS: [(&str, i64); 7] = [
    (
        "queue.claim(gen_random_uuid(), 'work', 100, gen_random_uuid(), 64, 5, null, 0::smallint)",
        5000,
    ),
    (
        "queue.finish(gen_random_uuid(), array[1, 2], array[1, 1])",
        100,
    ),
    (
        "queue.keep(gen_random_uuid(), array[1, 2], array[1, 1], array[0, 2]::smallint[], array[0, 1]::smallint[],
                    array[null, 1], array[null, null], array[null, 'an error'])",
        100,
    ),
    (
        "queue.checkpoint(gen_random_uuid(), array[1, 2], array[1, 1])",
        100,
    ),
    (
        "queue.enqueue_held(gen_random_uuid(), '{0,1}', '{work,work}', array[lpad('1', 32, '0'), lpad('2', 32, '0')]::uuid[],
                            array[lpad('1', 32, '0'), lpad('2', 32, '0')]::uuid[], '{1,2}', '{0,0}', '{0,0}', '{0,0}',
                            '{5,5}', '{true,true}', '{5,5}', '{5,5}')",
        500,
    ),
    ("queue.claimed_by(gen_random_uuid())", 500),
    ("queue.doomed('work', 100)", 100),
];

/// The blocks that a statement reads. This measures its work independently of the machine.
async fn blocks(conn: &mut PgConnection, statement: &str) -> i64 {
    let explain =
        format!("explain (analyze, buffers, timing off, format json) select * from {statement}");
    let plan: Value = sqlx::query_scalar(AssertSqlSafe(explain))
        .fetch_one(conn)
        .await
        .unwrap();
    let count = |name: &str| plan[0]["Plan"][name].as_i64().unwrap();
    count("Shared Hit Blocks") + count("Shared Read Blocks")
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_plan_made_for_an_empty_table_serves_a_full_one(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    for statement in [
        // From now on, the session does not learn that the table has grown.
        "alter table queue.jobs set (autovacuum_enabled = off)",
        "vacuum analyze queue.jobs",
    ] {
        sqlx::query(statement).execute(&mut *conn).await.unwrap();
    }
    for (statement, _) in STATEMENTS {
        for _ in 0..6 {
            blocks(&mut conn, statement).await;
        }
    }
    sqlx::query(
        "insert into queue.jobs (queue, lane, payload, max_attempts, gen)
         select 'work', lpad(to_hex(n % 1000), 32, '0')::uuid, '{}', 9, 1
           from generate_series(1, 100000) n",
    )
    .execute(&mut *conn)
    .await
    .unwrap();
    for (statement, most) in STATEMENTS {
        let read = blocks(&mut conn, statement).await;
        assert!(read < most, "{read} blocks for {statement}");
    }
}
