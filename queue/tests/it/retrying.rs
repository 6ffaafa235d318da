//! Failed attempts are charged and scheduled in the table. No worker sleeps in a slot.

use std::time::Duration;

use sqlx::PgPool;

use crate::support::{
    Act, End, Process, act, count, enqueue, job, names, prepare, quick, settings, until, until_idle,
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn errors_and_panics_are_tried_again_until_it_works(pool: PgPool) {
    prepare(&pool).await;
    let at_first = vec![End::Fail, End::Panic, End::Fail];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("stubborn")
        })],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select attempt::text from effects").await,
        ["4"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_failed_attempt_waits_in_the_table_with_its_error(pool: PgPool) {
    prepare(&pool).await;
    let at_first = vec![End::FailAfter { ms: 3_600_000 }, End::Fail];
    enqueue(
        &pool,
        [job(&Act {
            at_first,
            ..act("later")
        })],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until(
        &pool,
        "select exists (select from queue.jobs where state = 2)",
    )
    .await;
    let row = names(
        &pool,
        "select concat_ws(' ', attempt, locked_by is null,
                          run_at between now() + '59 min' and now() + '61 min', last_error)
           from queue.jobs",
    )
    .await;
    assert_eq!(row, ["1 t t RetryError: later"]);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_50_an_outage_charges_no_attempt(pool: PgPool) {
    prepare(&pool).await;
    // The job is due again after some seconds, in which a test on a busy machine may see nothing.
    sqlx::raw_sql(
        "create table postponed (attempt smallint, error text, delay interval);
         create function note_postponed() returns trigger language plpgsql as $$
         begin
             insert into postponed values (new.attempt, new.last_error, new.run_at - now());
             return null;
         end $$;
         create trigger note_postponed after update on queue.jobs for each row
             when (old.state = 1 and new.state = 2) execute function note_postponed()",
    )
    .execute(&pool)
    .await
    .unwrap();
    let at_first = vec![End::Outage];
    let patient = Act {
        at_first,
        ..act("patient")
    };
    enqueue(&pool, [job(&patient)]).await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(
        names(
            &pool,
            "select concat_ws(' ', attempt, error, delay between '0 seconds' and '6 seconds') from postponed"
        )
        .await,
        ["0 the database is away t"]
    );
    assert_eq!(
        names(&pool, "select attempt::text from effects").await,
        ["1"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn waits_grow_and_are_kept_to_the_millisecond(pool: PgPool) {
    prepare(&pool).await;
    let started = std::time::Instant::now();
    enqueue(
        &pool,
        [job(&Act {
            at_first: vec![End::Fail; 4],
            ..act("growing")
        })],
    )
    .await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    // 40 + 80 + 160 + 320 ms, give or take a tenth; on a busy machine it takes longer.
    let took = started.elapsed();
    assert!(took > Duration::from_millis(540), "{took:?}");
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_time_out_is_a_failed_attempt_and_frees_the_slot(pool: PgPool) {
    prepare(&pool).await;
    let slow = Act {
        sleep_ms: 60_000,
        ..act("endless")
    };
    enqueue(&pool, [job(&slow).max_attempts(2), job(&act("quick"))]).await;
    let process = Process::start_with(&pool, quick(), settings(), 1, Duration::from_millis(100));
    until_idle(&pool).await;
    assert_eq!(names(&pool, "select name from effects").await, ["quick"]);
    assert_eq!(
        names(
            &pool,
            "select concat_ws(' ', attempt, cause, error) from queue.dead_jobs"
        )
        .await,
        ["2 exhausted request timed out"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_job_longer_than_three_leases_runs_once(pool: PgPool) {
    prepare(&pool).await;
    let config = queue::Config {
        lease: Duration::from_secs(5),
        heartbeat: Duration::from_millis(100),
        ..quick()
    };
    enqueue(
        &pool,
        [job(&Act {
            sleep_ms: 15_500,
            ..act("long")
        })],
    )
    .await;
    let one = Process::start(&pool, config, settings());
    let other = Process::start(&pool, config, settings());
    until_idle(&pool).await;
    assert_eq!(one.started() + other.started(), 1);
    assert_eq!(count(&pool, "select count(*) from effects").await, 1);
    one.stop().await;
    other.stop().await;
}
