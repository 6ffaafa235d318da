//! Leaving a generation, on a real Postgres: claims can see every job all the time, whatever others
//! are in the middle of.

mod concurrency;
mod visibility;
mod waste;

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
    // Others come and go in the meantime.
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
        // The process died between the two steps: writers still enter the condemned generation, or
        // the new old one.
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
    assert_eq!(gather_unreachable(&mut conn).await.unwrap(), 1);
    assert_eq!(gather_unreachable(&mut conn).await.unwrap(), 0);
    assert_eq!(claim(&mut conn).await.len(), 1);
}
