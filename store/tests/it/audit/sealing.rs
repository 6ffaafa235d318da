//! Each row is sealed once, and no chain splits in two, also when several processes write and seal at the same time.

use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::PgPool;
use store::{
    audit::{
        self,
        sealing::{catch_up, round},
    },
    schema,
};
use tokio::task::JoinSet;

use super::{NO_TEAM, add, count, finding, head, record, run, sealed, team, verify};

const WRITERS: usize = 6;
const ROWS_OF_A_WRITER: usize = 60;

#[sqlx::test(migrations = false)]
async fn case_84_writers_and_sealers_at_once_make_one_chain_of_every_team(pool: PgPool) {
    static WRITTEN: AtomicBool = AtomicBool::new(false);
    schema::migrate(&pool).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let pool = pool.clone();
        let chain = [NO_TEAM, team(1), team(2)][writer % 3];
        writers.spawn(async move {
            for _ in 0..ROWS_OF_A_WRITER {
                record(&pool, chain).await;
            }
        });
    }
    let mut sealers = JoinSet::new();
    for _ in 0..3 {
        let pool = pool.clone();
        sealers.spawn(async move {
            while !WRITTEN.load(Ordering::Relaxed) {
                round(&pool).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    WRITTEN.store(true, Ordering::Relaxed);
    sealers.join_all().await;
    catch_up(&pool).await.unwrap();

    let each = (WRITERS / 3 * ROWS_OF_A_WRITER) as u64;
    for chain in [NO_TEAM, team(1), team(2)] {
        let report = verify(&pool, chain, None).await;
        assert_eq!((report.finding, report.walk.rows()), (None, each));
        assert_eq!(report.walk.at(), head(&pool, chain).await);
    }
    let unsealed = "select count(*) from audit_log where chain_number is null";
    assert_eq!(count(&pool, unsealed).await, 0);
}

/// Two sealers that have both seen the same rows as not sealed: the second one gets the lock when the
/// first one has committed.
#[sqlx::test(migrations = false)]
async fn case_84_a_sealer_that_finds_the_chain_locked_seals_nothing_of_it(pool: PgPool) {
    sealed(&pool, team(1), 2).await;
    record(&pool, team(1)).await;
    record(&pool, team(2)).await;
    let mut other = pool.begin().await.unwrap();
    sqlx::query("select from audit_chains where chain = $1 for update")
        .bind(team(1).as_uuid())
        .execute(&mut *other)
        .await
        .unwrap();
    // It neither waits nor seals the rows a second time.
    assert_eq!(round(&pool).await.unwrap().sealed, 1);
    assert_eq!(head(&pool, team(1)).await.number, 2);
    assert_eq!(head(&pool, team(2)).await.number, 1);
    other.rollback().await.unwrap();
    assert_eq!(round(&pool).await.unwrap().sealed, 1);
    assert_eq!(finding(&pool, team(1)).await, None);
}

#[sqlx::test(migrations = false)]
async fn case_87_a_flood_of_one_team_does_not_delay_the_others(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let flood = "
        insert into audit_log (id, team_id, actor, action, details)
        select gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'command_line', 'team.update', '{}'
        from generate_series(1, 1200)";
    run(&pool, flood).await.unwrap();
    record(&pool, team(2)).await;
    assert_eq!(round(&pool).await.unwrap().sealed, 501);
    assert_eq!(head(&pool, team(2)).await.number, 1);
    // Large details count, too.
    let large = "
        insert into audit_log (id, team_id, actor, action, details)
        select gen_random_uuid(), '00000000-0000-0000-0000-000000000003', 'command_line', 'team.update',
            to_json(repeat('x', 3000000))
        from generate_series(1, 4)";
    run(&pool, large).await.unwrap();
    round(&pool).await.unwrap();
    assert_eq!(head(&pool, team(3)).await.number, 2);
    catch_up(&pool).await.unwrap();
    for (chain, rows) in [(team(1), 1_200), (team(2), 1), (team(3), 4)] {
        let report = verify(&pool, chain, None).await;
        assert_eq!((report.finding, report.walk.rows()), (None, rows));
    }
}

#[sqlx::test(migrations = false)]
async fn rows_are_numbered_in_the_order_of_their_times(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    // As a log from before the upgrade: in no order.
    let old = "
        insert into audit_log (id, actor, action, details, occurred_at)
        select gen_random_uuid(), 'command_line', 'team.update', '{ }', now() - (n * 7 % 100) * interval '1 day'
        from generate_series(1, 99) n";
    run(&pool, old).await.unwrap();
    catch_up(&pool).await.unwrap();
    let report = verify(&pool, NO_TEAM, None).await;
    assert_eq!(
        (report.finding, report.walk.backdated(), report.walk.rows()),
        (None, None, 99)
    );
    let mut conn = pool.acquire().await.unwrap();
    let week = chrono::Utc::now() - chrono::TimeDelta::hours(7 * 24 + 12);
    let after = audit::after(&mut conn, NO_TEAM, week).await.unwrap();
    let before = audit::before(&mut conn, NO_TEAM, week).await.unwrap();
    assert_eq!((before, after), (Some(92), Some(93)));
    drop(conn);
    // Somebody adds a row that looks old.
    let backdated = "
        insert into audit_log (id, actor, action, details, occurred_at)
        values (gen_random_uuid(), 'command_line', 'team.update', '{}', now() - interval '50 days')";
    run(&pool, backdated).await.unwrap();
    catch_up(&pool).await.unwrap();
    let report = verify(&pool, NO_TEAM, None).await;
    assert_eq!((report.finding, report.walk.backdated()), (None, Some(100)));
}

#[sqlx::test(migrations = false)]
async fn all_chains_are_found(pool: PgPool) {
    sealed(&pool, team(2), 1).await;
    add(&pool, NO_TEAM, 1).await;
    record(&pool, team(5)).await;
    let mut conn = pool.acquire().await.unwrap();
    let mut found = Vec::new();
    let mut from = Some(NO_TEAM);
    while let Some(first) = from {
        let Some(chain) = audit::next(&mut conn, first).await.unwrap() else {
            break;
        };
        found.push(chain);
        from = chain.successor();
    }
    assert_eq!(found, [NO_TEAM, team(2), team(5)]);
}
