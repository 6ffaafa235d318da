//! Checkpoints: a running job records effects under its fence, each exactly once, and goes on.

mod ending;

use std::sync::atomic::Ordering::SeqCst;

use sqlx::PgPool;

use crate::support::{
    Act, Mark, Process, UNTIL_LET_GO, act, count, enqueue, job, mark, names, prepare, quick,
    settings, until, until_idle,
};

/// A job that records these marks, and ends well.
fn with_marks(name: &str, checkpoints: impl IntoIterator<Item = Mark>) -> Act {
    Act {
        checkpoints: checkpoints.into_iter().collect(),
        ..act(name)
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_checkpoint_is_recorded_once_while_the_job_goes_on(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let first = Mark {
        sleep_ms: UNTIL_LET_GO,
        ..mark("first")
    };
    enqueue(
        &pool,
        [job(&with_marks(
            "end",
            [first, mark("second"), mark("third")],
        ))],
    )
    .await;
    until(&pool, "select exists (select from effects)").await;
    assert_eq!(names(&pool, "select name from effects").await, ["first"]);
    assert_eq!(
        names(
            &pool,
            "select state || ' ' || attempt || ' ' || fence from queue.jobs"
        )
        .await,
        ["1 1 2"],
        "it runs on, in the same attempt, under the next fence"
    );
    process.let_go();
    until_idle(&pool).await;
    assert_eq!(
        names(
            &pool,
            "select name from effects order by xmin::text::bigint"
        )
        .await,
        ["first", "second", "third", "end"]
    );
    assert_eq!(process.started(), 1);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn many_jobs_record_at_once(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let marks = |n: i32| (0..5).map(move |m| mark(&format!("{n} {m}")));
    let acts = (0..100).map(|n| with_marks(&n.to_string(), marks(n)));
    enqueue(&pool, acts.map(|act| job(&act))).await;
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 600);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        600
    );
    assert_eq!(process.started(), 100);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_checkpoint_of_a_lost_job_is_refused(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let first = Mark {
        sleep_ms: UNTIL_LET_GO,
        ..mark("first")
    };
    enqueue(&pool, [job(&with_marks("end", [first, mark("second")]))]).await;
    until(&pool, "select exists (select from effects)").await;
    // Another worker claims the job in the meantime, as after a rescue. That worker is dead, too,
    // so the job comes back to us.
    sqlx::query("update queue.jobs set locked_by = gen_random_uuid(), fence = fence + 1")
        .execute(&pool)
        .await
        .unwrap();
    process.until_started(2).await;
    process.let_go();
    until_idle(&pool).await;
    assert_eq!(process.seen.refused.load(SeqCst), 1);
    assert_eq!(process.started(), 2);
    assert_eq!(
        names(
            &pool,
            "select name || ' ' || attempt from effects order by xmin::text::bigint"
        )
        .await,
        ["first 1", "first 2", "second 2", "end 2"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_failing_checkpoint_is_told_to_its_job_and_harms_no_sibling(pool: PgPool) {
    prepare(&pool).await;
    let acts = (0..60).map(|n| {
        let poisoned = Mark {
            poison: n % 20 == 3,
            ..mark(&format!("mark {n}"))
        };
        with_marks(&n.to_string(), [poisoned])
    });
    enqueue(&pool, acts.map(|act| job(&act).max_attempts(2))).await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 2 * 57);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        2 * 57
    );
    assert_eq!(
        names(
            &pool,
            "select distinct attempt || ' ' || cause from queue.dead_jobs"
        )
        .await,
        ["2 exhausted"]
    );
    let error = names(&pool, "select distinct error from queue.dead_jobs")
        .await
        .concat();
    assert!(error.contains("effects_sound"), "{error}");
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn follow_up_jobs_of_a_checkpoint_are_enqueued_with_it(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    let first = Mark {
        follow_up: true,
        sleep_ms: UNTIL_LET_GO,
        ..mark("first")
    };
    enqueue(&pool, [job(&with_marks("end", [first]))]).await;
    until(
        &pool,
        "select exists (select from queue.jobs where queue = 'more')",
    )
    .await;
    assert_eq!(
        count(
            &pool,
            "select count(*) from queue.jobs where queue = 'work' and state = 1"
        )
        .await,
        1,
        "the job still runs"
    );
    assert_eq!(
        names(
            &pool,
            "select payload ->> 'name' from queue.jobs where queue = 'more'"
        )
        .await,
        ["after first"]
    );
    process.let_go();
    until(
        &pool,
        "select not exists (select from queue.jobs where queue = 'work')",
    )
    .await;
    process.stop().await;
}
