//! Runs that end while a checkpoint is being written.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use queue::Config;
use sqlx::PgPool;

use super::with_marks;
use crate::{
    proxy::through_proxy,
    support::{Process, enqueue, job, mark, names, prepare, quick, settings, until, until_idle},
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_checkpoint_whose_commit_is_not_answered_is_recorded_once(pool: PgPool) {
    prepare(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    let process = Process::start(&through, quick(), settings());
    proxy.swallow_commits.store(2, SeqCst);
    let marks = (0..4).map(|n| mark(&n.to_string()));
    enqueue(&pool, [job(&with_marks("end", marks))]).await;
    until_idle(&pool).await;
    assert_eq!(proxy.swallow_commits.load(SeqCst), 0);
    assert_eq!(
        names(
            &pool,
            "select name from effects order by xmin::text::bigint"
        )
        .await,
        ["0", "1", "2", "3", "end"]
    );
    assert_eq!(process.started(), 1);
    process.stop().await;
}

/// The run ends by its time-out while its checkpoint waits for a lock. The end must not overtake
/// the checkpoint; otherwise the row would stay with a worker that does not know it any more.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_run_that_times_out_in_a_checkpoint_ends_after_it(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        finishers: 2,
        deadline: Duration::from_mins(2),
        ..quick()
    };
    // Long enough for a run that nobody holds up, however busy the machine is.
    let time_out = Duration::from_secs(2);
    let process = Process::start_with(&pool, config, settings(), 16, time_out);
    let mut lock = pool.begin().await.unwrap();
    sqlx::query("lock table effects")
        .execute(&mut *lock)
        .await
        .unwrap();
    enqueue(&pool, [job(&with_marks("end", [mark("first")]))]).await;
    until(
        &pool,
        "select exists (select from pg_locks l where l.relation = 'effects'::regclass and not l.granted)",
    )
    .await;
    tokio::time::sleep(time_out + Duration::from_millis(300)).await;
    lock.commit().await.unwrap();
    // In the wrong order, the row would wait for two sweeps for orphans, which are two minutes apart.
    until_idle(&pool).await;
    assert_eq!(
        names(
            &pool,
            "select name || ' ' || attempt from effects order by xmin::text::bigint"
        )
        .await,
        ["first 1", "first 2", "end 2"]
    );
    process.stop().await;
}

/// The worker is dropped at the end of its grace period, while a checkpoint is being written.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_run_that_is_dropped_in_a_checkpoint_is_given_back_after_it(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        finishers: 2,
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    let mut lock = pool.begin().await.unwrap();
    sqlx::query("lock table effects")
        .execute(&mut *lock)
        .await
        .unwrap();
    enqueue(&pool, [job(&with_marks("end", [mark("first")]))]).await;
    until(
        &pool,
        "select exists (select from pg_locks l where l.relation = 'effects'::regclass and not l.granted)",
    )
    .await;
    let abandoned = tokio::spawn(process.abandon());
    tokio::time::sleep(Duration::from_millis(300)).await;
    lock.commit().await.unwrap();
    abandoned.await.unwrap();
    assert_eq!(
        names(
            &pool,
            "select state || ' ' || attempt || ' ' || fence from queue.jobs"
        )
        .await,
        ["0 0 2"],
        "due as before, uncharged"
    );
    assert_eq!(names(&pool, "select name from effects").await, ["first"]);
}
