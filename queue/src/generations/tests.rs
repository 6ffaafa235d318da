//! Leaving a generation, on a real Postgres: no job is out of a claim's sight for it, whoever is in the middle of what.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use sqlx::{PgPool, Row as _};

use super::*;

const ENQUEUE: &str = "select queue.enqueue(array['q'], array[gen_random_uuid()], array['{}'],
                                            array[0::smallint], array[0::bigint], array[9::smallint])";
const CLAIM: &str = "select coalesce(ids, '{}') as ids
                       from queue.claim(gen_random_uuid(), 'q', 1000, gen_random_uuid(), 4096, 1000, null, 0::smallint)";

async fn claim(conn: &mut PgConnection) -> Vec<i64> {
    sqlx::query(CLAIM).fetch_one(conn).await.unwrap().get("ids")
}

async fn now(conn: &mut PgConnection) -> Generations {
    read(conn).await.unwrap()
}

async fn start_leaving(conn: &mut PgConnection, choice: Leave) -> Generations {
    condemn(conn, choice, 0).await.unwrap();
    advance(conn).await.unwrap();
    now(conn).await
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn what_lives_on_moves_and_nothing_else_about_it_changes(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    sqlx::query(ENQUEUE).execute(&mut *conn).await.unwrap();
    let running = claim(&mut conn).await;
    sqlx::query(ENQUEUE).execute(&mut *conn).await.unwrap();
    let rows = "select array_agg(to_jsonb(j) - 'gen' order by id)::text from queue.jobs j";
    let before: String = sqlx::query_scalar(rows)
        .fetch_one(&mut *conn)
        .await
        .unwrap();

    for choice in [Leave::Young, Leave::Old] {
        let condemned = start_leaving(&mut conn, choice).await.condemned.unwrap();
        leave(&mut conn, condemned).await.unwrap();
        let after = now(&mut conn).await;
        assert_eq!(after.condemned, None, "{choice:?}");
        assert!(after.young > after.old, "{after:?}");
        assert_eq!(count_living(&mut conn, after.old, 9).await.unwrap(), 2);
    }
    let after: String = sqlx::query_scalar(rows)
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert_eq!(before, after);
    let due = claim(&mut conn).await;
    assert_eq!(due.len(), 1);
    assert_ne!(due, running);
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_generation_stays_open_for_a_writer_that_has_not_ended(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    let mut writer = pool.begin().await.unwrap();
    sqlx::query(ENQUEUE).execute(&mut *writer).await.unwrap();
    let left = start_leaving(&mut conn, Leave::Young).await;
    let condemned = left.condemned.unwrap();
    for _ in 0..3 {
        leave(&mut conn, condemned).await.unwrap();
        assert_eq!(now(&mut conn).await.condemned, Some(condemned));
    }
    writer.commit().await.unwrap();
    assert_eq!(claim(&mut conn).await.len(), 1, "it is found at once");
    leave(&mut conn, condemned).await.unwrap();
    assert_eq!(now(&mut conn).await.condemned, None);
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_writer_that_takes_very_long_holds_up_nobody_and_loses_nothing(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    let mut writer = pool.begin().await.unwrap();
    sqlx::query(ENQUEUE).execute(&mut *writer).await.unwrap();
    let first = start_leaving(&mut conn, Leave::Young).await.condemned;
    sqlx::query("update queue.generations set condemned_at = now() - interval '1 minute'")
        .execute(&mut *conn)
        .await
        .unwrap();
    leave(&mut conn, first.unwrap()).await.unwrap();
    let after = now(&mut conn).await;
    assert_eq!(
        (after.condemned, &after.held),
        (None, &vec![first.unwrap()])
    );
    // Others come and go meanwhile.
    for choice in [Leave::Young, Leave::Old] {
        let next = start_leaving(&mut conn, choice).await.condemned.unwrap();
        leave(&mut conn, next).await.unwrap();
        assert_eq!(now(&mut conn).await.condemned, None);
    }
    assert!(!Collector::default().round(&mut conn).await.unwrap());
    writer.commit().await.unwrap();
    assert_eq!(claim(&mut conn).await.len(), 0, "claims do not look there");
    assert!(Collector::default().round(&mut conn).await.unwrap());
    assert_eq!(claim(&mut conn).await.len(), 1);
    assert_eq!(now(&mut conn).await.held, Vec::<i32>::new());
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn whoever_comes_next_goes_on_where_a_process_died(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    for choice in [Leave::Young, Leave::Old] {
        sqlx::query(ENQUEUE).execute(&mut *conn).await.unwrap();
        // It died between the two steps: writers still enter the condemned generation, or the new old one.
        condemn(&mut conn, choice, 0).await.unwrap();
        sqlx::query(ENQUEUE).execute(&mut *conn).await.unwrap();
        assert_eq!(claim(&mut conn).await.len(), 2);
        let young = now(&mut conn).await.young;
        for _ in 0..3 {
            Collector::default().round(&mut conn).await.unwrap();
        }
        let after = now(&mut conn).await;
        assert_eq!((after.young, after.condemned), (young + 1, None));
    }
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn two_processes_that_both_leave_generations_skip_none(pool: PgPool) {
    let (mut one, mut other) = (pool.acquire().await.unwrap(), pool.acquire().await.unwrap());
    condemn(&mut one, Leave::Young, 0).await.unwrap();
    condemn(&mut other, Leave::Old, 0).await.unwrap();
    advance(&mut one).await.unwrap();
    advance(&mut other).await.unwrap();
    let after = now(&mut one).await;
    assert_eq!((after.young, after.old, after.condemned), (2, 0, Some(1)));
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn jobs_of_a_restored_dump_are_brought_back(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    sqlx::query(ENQUEUE).execute(&mut *conn).await.unwrap();
    // A dump has the row as it was when the dump began, and the sequence as it was later.
    sqlx::query("select setval('queue.young', 7)")
        .execute(&mut *conn)
        .await
        .unwrap();
    assert_eq!(claim(&mut conn).await.len(), 0);
    assert_eq!(gather_unseen(&mut conn).await.unwrap(), 1);
    assert_eq!(gather_unseen(&mut conn).await.unwrap(), 0);
    assert_eq!(claim(&mut conn).await.len(), 1);
}

/// Everybody at once: writers whose transactions last a while, claimers, and two processes that leave generations
/// as fast as they can.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn every_job_is_claimed_once_while_generations_change(pool: PgPool) {
    const JOBS: usize = 1200;
    let writing = AtomicBool::new(true);
    let generations = || async {
        let mut conn = pool.acquire().await.unwrap();
        let mut left = 0;
        while writing.load(SeqCst) {
            let choice = if left % 3 == 2 {
                Leave::Old
            } else {
                Leave::Young
            };
            let started = start_leaving(&mut conn, choice).await;
            if let Some(condemned) = started.condemned {
                leave(&mut conn, condemned).await.unwrap();
                left += 1;
            }
            for generation in started.held {
                empty(&mut conn, generation).await.unwrap();
                close(&mut conn, generation).await.unwrap();
            }
            // As if the patience were over at once, every now and then.
            if left % 5 == 0 {
                sqlx::query(
                    "update queue.generations set condemned_at = now() - interval '1 minute'",
                )
                .execute(&mut *conn)
                .await
                .unwrap();
            }
        }
    };
    let writers = async {
        let write = |slow: u64| {
            let pool = pool.clone();
            async move {
                for n in 0..(JOBS as u64 / 4) {
                    let mut tx = pool.begin().await.unwrap();
                    sqlx::query(ENQUEUE).execute(&mut *tx).await.unwrap();
                    if n % 50 == 0 {
                        tokio::time::sleep(Duration::from_millis(slow)).await;
                    }
                    tx.commit().await.unwrap();
                }
            }
        };
        tokio::join!(write(1), write(7), write(20), write(90));
        writing.store(false, SeqCst);
    };
    let claims = || async {
        let mut conn = pool.acquire().await.unwrap();
        let mut claimed = Vec::new();
        loop {
            let last = !writing.load(SeqCst);
            if last {
                // The generations that are still held.
                for _ in 0..3 {
                    Collector::default().round(&mut conn).await.unwrap();
                }
            }
            let some = claim(&mut conn).await;
            if some.is_empty() && last {
                return claimed;
            }
            // Some are finished, the others run on and move along.
            sqlx::query("delete from queue.jobs where id = any ($1) and id % 2 = 0")
                .bind(&some)
                .execute(&mut *conn)
                .await
                .unwrap();
            claimed.extend(some);
        }
    };
    let ((), (), (), one, other) =
        tokio::join!(writers, generations(), generations(), claims(), claims());
    // A writer whose generation was closed over its head, because its patience was over, has written where no claim looks.
    // The search for such jobs finds them.
    gather_unseen(&mut pool.acquire().await.unwrap())
        .await
        .unwrap();
    let rest = claims().await;
    let mut times: HashMap<i64, u32> = HashMap::new();
    for id in one.into_iter().chain(other).chain(rest) {
        *times.entry(id).or_default() += 1;
    }
    assert_eq!(times.len(), JOBS);
    assert!(times.values().all(|&times| times == 1));
    let mut conn = pool.acquire().await.unwrap();
    let young = now(&mut conn).await.young;
    assert!(young > 10, "only {young} generations");
    // The claims may have won their last race against the generations: what runs is in a live one all the same.
    assert_eq!(gather_unseen(&mut conn).await.unwrap(), 0);
}

/// Waste is counted once: then the entries are marked as dead, and a claim walks over their pages uncounted.
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

/// The blocks that a claim reads: a count of its work that does not depend on the machine.
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

    // The server counts what the claims met, and publishes it once a second at most.
    let young = now(&mut conn).await.young;
    let left = async {
        while now(&mut conn).await.young == young || now(&mut conn).await.condemned.is_some() {
            blocks_of_a_claim(&mut conn).await;
            collector.round(&mut conn).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), left)
        .await
        .expect("the generation is left");
    let after = blocks_of_a_claim(&mut conn).await;
    assert!(after < fresh + 200, "{after} blocks, at first {fresh}");
}

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
    tokio::time::sleep(Duration::from_millis(500)).await;
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
    // A claim, stopped after it has looked up the live generations.
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
