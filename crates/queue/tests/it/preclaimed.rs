//! Follow-up jobs that the finishing process takes at once. They are inserted as claimed, under the
//! same conditions as a claim.

mod caps;

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use queue::{BackendSettings, Config, Group, groups, lanes, queues};
use sqlx::PgPool;

use crate::{
    proxy::through_proxy,
    support::{
        Act, MORE, NEVER, PATIENCE, Process, WORK, act, count, enqueue, job, lane, names, prepare,
        quick, settings, until, until_idle,
    },
};

/// Records the state of new rows when they are inserted.
pub(crate) async fn watch_inserts(pool: &PgPool) {
    sqlx::raw_sql(
        "create table inserted (queue text, state smallint, fence integer, attempt smallint);
         create function note_insert() returns trigger language plpgsql as $$
         begin
             insert into inserted values (new.queue, new.state, new.fence, new.attempt);
             return null;
         end $$;
         create trigger note_insert after insert on queue.jobs for each row execute function note_insert()",
    )
    .execute(pool)
    .await
    .unwrap();
}

/// The rows of `MORE` as they were inserted: number, state, fence and attempt.
const INSERTED: &str = "select count(*) || ': ' || state || ' ' || fence || ' ' || attempt
                          from inserted where queue = 'more' group by state, fence, attempt order by state";

fn more() -> BackendSettings {
    BackendSettings::new(MORE)
}

/// While a claim is under way, there is no room for jobs that are taken at once.
fn without_polls() -> Config {
    Config {
        poll: NEVER,
        ..quick()
    }
}

/// A process that works on both queues.
fn start(pool: &PgPool, config: Config, more: BackendSettings) -> Process {
    let all = [settings(), more];
    Process::start_all(pool, config, &all, 16, PATIENCE)
}

/// Waits until the process listens, after which it claims once more, and has room in `MORE` when that claim is over. It has run one
/// job by then, which left nothing.
async fn until_ready(pool: &PgPool, process: &Process) {
    until(
        pool,
        "select exists (select from pg_stat_activity
                         where datname = current_database() and state = 'idle' and query like 'LISTEN %')",
    )
    .await;
    // Its first claims are over.
    process.until_it_has_room(WORK).await;
    enqueue(pool, [job(&act("warm-up"))]).await;
    // This is heard after that claim has begun, in all queues. Either of them finds the job.
    queue::wake(&mut pool.acquire().await.unwrap(), &[WORK.as_str()])
        .await
        .unwrap();
    until(pool, "select exists (select from effects)").await;
    sqlx::query("delete from effects")
        .execute(pool)
        .await
        .unwrap();
    process.until_it_has_room(MORE).await;
}

fn with_follow_up(name: &str) -> Act {
    Act {
        follow_up: true,
        ..act(name)
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_follow_up_job_starts_without_a_claim(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let process = start(&pool, without_polls(), more());
    until_ready(&pool, &process).await;
    let jobs = enqueue(&pool, [job(&with_follow_up("first"))]).await;
    process.queue.enqueued(&jobs);
    until_idle(&pool).await;
    assert_eq!(names(&pool, INSERTED).await, ["1: 1 1 1"]);
    assert_eq!(
        names(
            &pool,
            "select name || ' ' || attempt from effects order by 1"
        )
        .await,
        ["after first 1", "first 1"]
    );
    assert_eq!(process.started(), 1 + 2);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn many_follow_up_jobs_run_once_each_whoever_takes_them(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let (one, other) = (start(&pool, quick(), more()), start(&pool, quick(), more()));
    enqueue(
        &pool,
        (0..500).map(|n| job(&with_follow_up(&n.to_string()))),
    )
    .await;
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 1000);
    assert_eq!(
        count(&pool, "select count(distinct name) from effects").await,
        1000
    );
    assert_eq!(one.started() + other.started(), 1000);
    assert!(count(&pool, "select count(*) from inserted where state = 1").await > 0);
    one.stop().await;
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_process_that_does_not_work_on_the_queue_takes_nothing(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let process = Process::start(&pool, quick(), settings());
    enqueue(&pool, [job(&with_follow_up("first"))]).await;
    until(&pool, "select exists (select from effects)").await;
    assert_eq!(names(&pool, INSERTED).await, ["1: 0 0 0"]);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_is_paused_is_not_taken(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let process = start(&pool, quick(), more());
    let mut conn = pool.acquire().await.unwrap();
    queues::pause(&mut conn, MORE, None).await.unwrap();
    enqueue(&pool, [job(&with_follow_up("1"))]).await;
    until(&pool, "select exists (select from effects)").await;
    assert!(queues::resume(&mut conn, MORE).await.unwrap());
    process.queue.wake([MORE]);
    until_idle(&pool).await;
    lanes::pause(&mut conn, MORE, lane(1), None).await.unwrap();
    enqueue(&pool, [job(&with_follow_up("2"))]).await;
    until(&pool, "select count(*) = 3 from effects").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(names(&pool, INSERTED).await, ["2: 0 0 0"]);
    assert_eq!(process.started(), 3, "the second follow-up job waits");
    assert!(lanes::resume(&mut conn, MORE, lane(1)).await.unwrap());
    process.queue.wake([MORE]);
    until_idle(&pool).await;
    let group = Group(lane(1).0);
    groups::pause(&mut conn, MORE, group, None).await.unwrap();
    enqueue(&pool, [job(&with_follow_up("3"))]).await;
    until(&pool, "select count(*) = 5 from effects").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(names(&pool, INSERTED).await, ["3: 0 0 0"]);
    assert_eq!(process.started(), 5, "the third follow-up job waits");
    process.stop().await;
}

/// The lock is kept until the transaction ends, which may take long. So nobody waits for it.
#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn what_another_transaction_claims_from_is_not_taken(pool: PgPool) {
    let mut conn = pool.acquire().await.unwrap();
    let mut other = pool.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock(hashtext('more'), uuid_hash($1))")
        .bind(lane(1))
        .execute(&mut *other)
        .await
        .unwrap();
    for [group_cap, lane_cap, taken] in [
        [Some(5), None, None],
        [None, Some(5), None],
        [None, None, Some(1)],
    ] {
        let held: Vec<Option<i64>> = sqlx::query_scalar(
            "select (queue.enqueue_held(gen_random_uuid(), '{0}', '{more}', array[$1]::uuid[], array[$1]::uuid[],
                     array['null'], '{0}', '{0}', '{0}', '{5}', '{true}', array[$2]::int[], array[$3]::int[])).ids",
        )
        .bind(lane(1))
        .bind(group_cap)
        .bind(lane_cap)
        .fetch_one(&mut *conn)
        .await
        .unwrap();
        assert_eq!(held[0].is_some(), taken.is_some());
    }
}

const HELD: &str = "select (queue.enqueue_held(gen_random_uuid(), '{0}', '{more}', array[$1]::uuid[], array[$1]::uuid[],
                            array['null'], '{0}', '{0}', '{0}', '{5}', '{true}', '{null}', '{5}')).ids";

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_backlog_is_left_to_claims(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let process = start(&pool, quick(), more().prefetch(4));
    let acts = (0..200).map(|n| Act {
        follow_up_sleep_ms: 10,
        ..with_follow_up(&n.to_string())
    });
    enqueue(&pool, acts.map(|act| job(&act))).await;
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from effects").await, 400);
    let taken = "select count(*) from inserted where queue = 'more' and state = 1";
    assert!(count(&pool, taken).await < 100);
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn after_a_lost_answer_that_was_a_success_they_are_handed_over(pool: PgPool) {
    prepare(&pool).await;
    watch_inserts(&pool).await;
    let (proxy, through) = through_proxy(&pool).await;
    let config = Config {
        deadline: Duration::from_mins(2),
        ..without_polls()
    };
    let process = start(&through, config, more());
    until_ready(&pool, &process).await;
    proxy.swallow_commits.store(1, SeqCst);
    let jobs = enqueue(&pool, [job(&with_follow_up("first"))]).await;
    process.queue.enqueued(&jobs);
    // The sweeps for orphans are two minutes apart.
    until_idle(&pool).await;
    assert_eq!(proxy.swallow_commits.load(SeqCst), 0);
    assert_eq!(names(&pool, INSERTED).await, ["1: 1 1 1"]);
    assert_eq!(count(&pool, "select count(*) from effects").await, 2);
    assert_eq!(process.started(), 1 + 2);
    process.stop().await;
}
