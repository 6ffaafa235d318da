//! Claims find jobs among many rows that cannot be claimed.

use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tokio::time::sleep;
use uuid::Uuid;

use crate::{
    harness::{eventually, prepare},
    worker::{Setup, Worker},
};

/// Claims up to 100 jobs, like a process whose claims come back full, finishes them, and puts
/// others in their place. Returns how many pages the claim touched, and how long it took.
async fn claim(conn: &mut PgConnection, worker: Uuid) -> (i64, Duration) {
    let begun = Instant::now();
    let plan: Value = sqlx::query_scalar(
        "explain (analyze, buffers, timing off, format json)
         select * from queue.claim($1, 'shop', 100, gen_random_uuid(), 64, null, null, 0::smallint,
                                  p_is_deep => true)",
    )
    .bind(worker)
    .fetch_one(&mut *conn)
    .await
    .unwrap();
    let took = begun.elapsed();
    sqlx::query(
        "with finished as (
             delete from queue.jobs where state = 1 and locked_by = $1 returning lane
         )
         insert into queue.jobs (queue, grp, lane, payload, max_attempts)
         select 'shop', lane, lane, '{}', 1 from finished",
    )
    .bind(worker)
    .execute(conn)
    .await
    .unwrap();
    let plan = &plan[0]["Plan"];
    let pages = |kind: &str| plan[kind].as_i64().unwrap();
    (
        pages("Shared Hit Blocks") + pages("Shared Read Blocks"),
        took,
    )
}

/// Inserts this many jobs into another queue than the workers', in 1,000 lanes for each state.
fn jobs_in_shop(rows: i64, state: i16, run_at: &'static str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!(
        "insert into queue.jobs (queue, grp, lane, payload, max_attempts, state, run_at)
         select 'shop', md5(n % 1000 || ' {state}')::uuid, md5(n % 1000 || ' {state}')::uuid, '{{}}', 1, {state}, {run_at}
           from generate_series(1, {rows}) n"
    ))
}

/// The 99th percentile of the time of this many claims: the middle one of three rounds.
async fn p99(conn: &mut PgConnection, worker: Uuid, claims: usize) -> Duration {
    let mut rounds = [Duration::ZERO; 3];
    for round in &mut rounds {
        let mut times = Vec::new();
        for _ in 0..claims {
            times.push(claim(conn, worker).await.1);
        }
        times.sort();
        *round = times[claims * 99 / 100];
    }
    rounds.sort();
    rounds[1]
}

/// Puts 1,000 due jobs among many that were finished and not vacuumed, and among as many scheduled
/// ones. Waits until a claim touches fewer than `times` as many pages as without them. Returns the
/// 99th percentiles before and after.
async fn find_work(pool: &PgPool, rows: i64, times: i64, claims: usize) -> [Duration; 2] {
    prepare(pool).await;
    let mut conn = pool.acquire().await.unwrap();
    let execute = async |conn: &mut PgConnection, statement| {
        sqlx::raw_sql(statement).execute(conn).await.unwrap();
    };
    // The youngest worker, so that the other one is the housekeeper.
    let worker: Uuid = sqlx::query_scalar(
        "insert into queue.workers (id, started_at, expires_at)
         values (gen_random_uuid(), now() + interval '1 hour', now() + interval '1 hour')
         returning id",
    )
    .fetch_one(&mut *conn)
    .await
    .unwrap();
    execute(&mut conn, jobs_in_shop(1000, 0, "now()")).await;
    // The first claim of a connection reads the catalogue.
    claim(&mut conn, worker).await;
    let (fresh, _) = claim(&mut conn, worker).await;
    let p99_fresh = p99(&mut conn, worker, claims).await;

    // Nothing vacuums the finished jobs.
    let off = "alter table queue.jobs set (autovacuum_enabled = off)";
    execute(&mut conn, AssertSqlSafe(off.to_owned())).await;
    // It works on another queue, and is the housekeeper of all queues.
    let housekeeper = Worker::start(&Setup::on(pool));
    execute(
        &mut conn,
        jobs_in_shop(rows, 2, "now() + n * interval '1 s' + interval '1 hour'"),
    )
    .await;
    execute(
        &mut conn,
        jobs_in_shop(rows, 0, "now() - interval '1 hour'"),
    )
    .await;
    let finished = "delete from queue.jobs where state = 0 and run_at < now() - interval '1 hour'";
    execute(&mut conn, AssertSqlSafe(finished.to_owned())).await;
    let (first, took) = claim(&mut conn, worker).await;
    eprintln!(
        "a claim touches {fresh} pages in a fresh table, {first} behind {rows} finished jobs, in {took:?}"
    );
    let begun = Instant::now();
    let now = eventually("a claim as in a fresh table", async || {
        sleep(Duration::from_millis(100)).await;
        let (pages, _) = claim(&mut conn, worker).await;
        (pages < times * fresh).then_some(pages)
    })
    .await;
    eprintln!("{now} pages after {:?} of claims", begun.elapsed());
    let p99_now = p99(&mut conn, worker, claims).await;
    eprintln!("p99 of a claim of 100: {p99_fresh:?} in a fresh table, {p99_now:?} now");
    housekeeper.stop().await;
    [p99_fresh, p99_now]
}

/// Compares pages; a benchmark compares times.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_14_claims_find_work_among_finished_and_scheduled_jobs(pool: PgPool) {
    find_work(&pool, 20_000, 2, 10).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
#[ignore = "long; run by `make reliability`"]
async fn case_14_claims_find_work_after_a_million_finished_and_with_a_million_scheduled(
    pool: PgPool,
) {
    // Entries that are marked as dead are not read any more, but their pages stay until vacuum
    // comes. So it can be up to about twice as many.
    let [fresh, now] = find_work(&pool, 1_000_000, 3, 500).await;
    assert!(now <= 2 * fresh, "{fresh:?}, then {now:?}");
}
