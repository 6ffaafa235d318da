//! The database goes away: no process exits, no job is lost, no effect is doubled.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use queue::Config;
use sqlx::PgPool;

use crate::proxy::through_proxy;
use crate::support::{
    Act, End, PATIENCE, Process, act, count, enqueue, job, names, prepare, quick, settings, until,
    until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn terminated_sessions_cost_time_and_nothing_else(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    enqueue(
        &pool,
        (0..2000).map(|n| {
            job(&Act {
                sleep_ms: 1,
                ..act(&n.to_string())
            })
        }),
    )
    .await;
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        let _ = sqlx::query(
            "select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid()",
        )
        .execute(&pool)
        .await;
    }
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let left = sqlx::query_scalar::<_, i64>("select count(*) from queue.jobs")
            .fetch_one(&pool)
            .await;
        if matches!(left, Ok(0)) {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{left:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(&pool, "select count(*) from effects").await, 2000);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        2000
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_commit_whose_answer_is_lost_is_not_repeated(pool: PgPool) {
    prepare(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    let process = Process::start(&through, quick(), settings());
    proxy.swallow_commits.store(1, SeqCst);
    let follow_up = |n: i32| Act {
        follow_up: true,
        ..act(&n.to_string())
    };
    enqueue(&pool, (0..100).map(|n| job(&follow_up(n)))).await;
    until(
        &pool,
        "select not exists (select from queue.jobs where queue = 'work')",
    )
    .await;
    assert_eq!(proxy.swallow_commits.load(SeqCst), 0);
    assert_eq!(count(&pool, "select count(*) from effects").await, 100);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        100
    );
    assert_eq!(
        count(
            &pool,
            "select count(*) from queue.jobs where queue = 'more'"
        )
        .await,
        100
    );
    assert_eq!(process.started(), 100);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_uncharged_again_is_not_repeated_either(pool: PgPool) {
    prepare(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    let process = Process::start(&through, quick(), settings());
    proxy.swallow_commits.store(2, SeqCst);
    let at_first = vec![End::Again {
        ms: 0,
        charged: false,
    }];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("patient")
        })],
    )
    .await;
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select attempt::text from effects").await,
        ["1"; 4]
    );
    assert_eq!(process.started(), 4);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_outage_longer_than_the_lease_doubles_no_effect(pool: PgPool) {
    prepare(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    let config = Config {
        lease: Duration::from_millis(500),
        heartbeat: Duration::from_millis(100),
        ..quick()
    };
    let cut_off = Process::start(&through, config, settings());
    enqueue(
        &pool,
        (0..40).map(|n| {
            job(&Act {
                // So long that all are claimed before the first ones end.
                sleep_ms: 2_000,
                ..act(&n.to_string())
            })
        }),
    )
    .await;
    until(
        &pool,
        "select count(*) >= 32 from queue.jobs where state = 1",
    )
    .await;
    proxy.down.store(true, SeqCst);
    let other = Process::start(&pool, config, settings());
    until_idle(&pool).await;
    proxy.down.store(false, SeqCst);
    // Back again, the process works as before, and the results of its jobs from the meantime are
    // refused.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 40);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        40
    );
    other.stop().await;
    enqueue(&pool, [job(&act("afterwards"))]).await;
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 41);
    cut_off.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_locked_table_is_waited_out(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        deadline: Duration::from_millis(300),
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    let mut lock = pool.begin().await.unwrap();
    sqlx::query("lock table effects")
        .execute(&mut *lock)
        .await
        .unwrap();
    enqueue(&pool, (0..20).map(|n| job(&act(&n.to_string())))).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    lock.commit().await.unwrap();
    until_idle(&pool).await;
    assert_eq!(
        count(&pool, "select count(*) from effects where attempt = 1").await,
        20
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_process_may_start_before_its_database(pool: PgPool) {
    prepare(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    proxy.down.store(true, SeqCst);
    let process = Process::start(&through, quick(), settings());
    enqueue(&pool, [job(&act("early"))]).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    proxy.down.store(false, SeqCst);
    until_idle(&pool).await;
    process.stop().await;
}
