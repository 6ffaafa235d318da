//! A replay of dead jobs that is interrupted and killed.

use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{
    PgPool,
    postgres::{PgAdvisoryLock, PgAdvisoryLockKey},
};

use super::{
    count,
    running::{Gatehouse, Running},
    until_count,
};

const DEAD: i64 = 100_000;
/// Stops a replay in the middle, at two jobs, as long as somebody holds the lock.
const STOPS: &str = "
    create function stop_here() returns trigger language plpgsql as $$
    begin
        perform pg_advisory_xact_lock(4711);
        return new;
    end
    $$;
    create trigger stop_here before insert on queue.jobs for each row
    when ((new.payload ->> 'n')::int in (70000, 30000)) execute function stop_here()";
const STOPPED: &str = "select count(*) from pg_locks
    where locktype = 'advisory' and objid = 4711 and not granted
        and database = (select oid from pg_database where datname = current_database())";

#[sqlx::test(migrations = false)]
async fn a_replay_that_is_interrupted_and_killed_loses_and_doubles_nothing(pool: PgPool) {
    const REPLAYED: &str = "select count(*) from queue.jobs";
    let gatehouse = Gatehouse::on(&pool);
    sqlx::query(
        "insert into queue.dead_jobs
                (id, queue, lane, priority, attempt, max_attempts, created_at, died_at, cause, error, payload)
         select i, 'analysis', gen_random_uuid(), 0, 5, 5, now(), now() - i * interval '1 ms', 'exhausted',
                'the provider answered 503', json_build_object('n', i)
           from generate_series(1, $1) i",
    )
    .bind(DEAD)
    .execute(&pool)
    .await
    .unwrap();
    let replay = [
        "queue", "--json", "replay", "--queue", "analysis", "--error", "503",
    ];

    sqlx::raw_sql(STOPS).execute(&pool).await.unwrap();
    let lock = PgAdvisoryLock::with_key(PgAdvisoryLockKey::BigInt(4711));
    let held = lock.acquire(pool.acquire().await.unwrap()).await.unwrap();
    let mut interrupted = Running(gatehouse.command(&replay).spawn().unwrap());
    until_count(&pool, STOPPED, |stopped| stopped > 0).await;
    interrupted.signal(Signal::INT);
    drop(held.release_now().await.unwrap());
    let output = interrupted.output();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let replayed = count(&pool, REPLAYED).await;
    assert!(replayed > 0 && replayed < DEAD, "{replayed}");
    assert_eq!(
        report,
        json!({ "matching": DEAD, "replayed": replayed, "interrupted": true })
    );

    let held = lock.acquire(pool.acquire().await.unwrap()).await.unwrap();
    let mut killed = Running(gatehouse.command(&replay).spawn().unwrap());
    until_count(&pool, STOPPED, |stopped| stopped > 0).await;
    killed.signal(Signal::KILL);
    killed.output();
    assert!(count(&pool, REPLAYED).await < DEAD);
    drop(held.release_now().await.unwrap());

    let report = gatehouse.json(&replay[2..]);
    assert_eq!(report["interrupted"], false);
    assert_eq!(
        count(&pool, "select count(*) from queue.dead_jobs").await,
        0
    );
    assert_eq!(count(&pool, REPLAYED).await, DEAD);
    let distinct = "select count(distinct (payload ->> 'n')::int) from queue.jobs";
    assert_eq!(count(&pool, distinct).await, DEAD);
    // Each job is in the audit log once, with the batch in which it was replayed.
    let recorded =
        "select coalesce(sum((details ->> 'replayed')::bigint), 0)::bigint from audit_log
         where actor = 'command_line' and action = 'dead_jobs.replay'";
    assert_eq!(count(&pool, recorded).await, DEAD);
}
