//! Jobs that were inserted as a worker's own but never reached it.

use std::time::Duration;

use queue::{Config, NewJob, NewJobs};
use sqlx::PgPool;

use super::{ROWS, insert, six};
use crate::{
    preclaimed::watch_inserts,
    support::{Process, WORK, count, lane, names, prepare, quick, settings, until_idle},
};

/// The answer is lost, or the process dies between the commit and the hand-over.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_was_inserted_and_never_handed_over_is_released(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let config = Config {
        deadline: Duration::from_millis(300),
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    process.until_it_has_room(WORK).await;
    let jobs = six();
    let reservation = process.queue.reserve(&jobs);
    insert(&pool, &jobs, &reservation).await;
    drop(reservation);
    until_idle(&pool).await;
    let inserted = "select count(*) || ': ' || state || ' ' || fence || ' ' || attempt
                      from inserted group by state, fence, attempt";
    assert_eq!(names(&pool, inserted).await, ["3: 1 1 1"]);
    assert_eq!(
        names(&pool, "select distinct attempt::text from effects").await,
        ["1"],
        "uncharged"
    );
    assert_eq!(process.started(), 3);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_a_dead_process_inserted_and_never_handed_over_is_rescued(pool: PgPool) {
    prepare(&pool).await;
    let dead = Process::start(&pool, quick(), settings());
    dead.until_it_has_room(WORK).await;
    let jobs = six();
    let reservation = dead.queue.reserve(&jobs);
    insert(&pool, &jobs, &reservation).await;
    drop(reservation);
    dead.abandon().await;
    let living = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 3);
    assert_eq!(living.started(), 3);
    living.stop().await;
}

/// By then, the sweeps may have given the jobs to others.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn an_answer_that_comes_too_late_hands_nothing_over(pool: PgPool) {
    prepare(&pool).await;
    sqlx::raw_sql(
        "create table deleted (fence integer);
         create function note_delete() returns trigger language plpgsql as $$
         begin
             insert into deleted values (old.fence);
             return null;
         end $$;
         create trigger note_delete after delete on queue.jobs for each row execute function note_delete()",
    )
    .execute(&pool)
    .await
    .unwrap();
    let config = Config {
        deadline: Duration::from_millis(300),
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    process.until_it_has_room(WORK).await;
    let jobs = six();
    let reservation = process.queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    tokio::time::sleep(Duration::from_millis(320)).await;
    reservation.committed(&jobs, &places, &ids);
    until_idle(&pool).await;
    // Each was released, and claimed: more than once if the answer to a claim came too late as well.
    let claimed = "select count(*) from deleted where fence >= 2";
    assert_eq!(count(&pool, claimed).await, 3);
    assert_eq!(count(&pool, "select count(*) from deleted").await, 3);
    assert_eq!(count(&pool, "select count(*) from effects").await, 3);
    assert_eq!(process.started(), 3);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn without_its_lease_a_worker_starts_nothing_of_it(pool: PgPool) {
    prepare(&pool).await;
    let config = Config {
        lease: Duration::from_millis(2_500),
        ..quick()
    };
    let process = Process::start(&pool, config, settings());
    process.until_it_has_room(WORK).await;
    let jobs = six();
    let reservation = process.queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    // Nobody renews it, because the row is locked.
    let mut lock = pool.begin().await.unwrap();
    sqlx::query("lock table queue.workers")
        .execute(&mut *lock)
        .await
        .unwrap();
    tokio::time::sleep(config.lease + Duration::from_millis(100)).await;
    reservation.committed(&jobs, &places, &ids);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(process.started(), 0);
    lock.rollback().await.unwrap();
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 3);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_worker_that_stopped_meanwhile_gives_them_back(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    process.until_it_has_room(WORK).await;
    let jobs = six();
    let queue = process.queue.clone();
    let reservation = queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    process.stop_workers().await;
    reservation.committed(&jobs, &places, &ids);
    queue.close(Duration::from_secs(5)).await;
    assert_eq!(names(&pool, ROWS).await, ["3: 0 1 0"]);
    let other = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    assert_eq!(other.started(), 3);
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn one_that_cannot_be_decoded_dies(pool: PgPool) {
    prepare(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    process.until_it_has_room(WORK).await;
    let jobs = NewJobs::from(NewJob::new(WORK, lane(1), &"not an act"));
    let reservation = process.queue.reserve(&jobs);
    let (places, ids) = insert(&pool, &jobs, &reservation).await;
    reservation.committed(&jobs, &places, &ids);
    until_idle(&pool).await;
    assert_eq!(
        names(&pool, "select cause from queue.dead_jobs").await,
        ["undecodable"]
    );
    process.stop().await;
}
