//! One process is elected. If two believe that they are, no harm is done.

use sqlx::PgPool;

use super::*;
use crate::{Process, Queue};

/// Its deadlines are long, however busy the machine is.
fn config() -> Config {
    Config {
        heartbeat: Duration::from_millis(100),
        ..Config::default()
    }
}

fn open(pool: &PgPool) -> Queue {
    Queue::open(pool.clone(), config()).unwrap()
}

/// A queue whose tasks never begin. Only the test does the housekeeping, and no newcomer does it once beside it.
fn at_rest(pool: &PgPool, config: Config) -> Queue {
    Queue::open_later(pool.clone(), config, Process::default()).unwrap()
}

/// Does a round in which everything is due.
async fn keep_house(queue: &Queue) {
    let shared = queue.shared();
    let mut connection = DedicatedConnection::with_settings(&shared.pool, settings(&shared.config));
    House::new(Rank::Eldest, Gauges::default())
        .keep(shared, &mut connection)
        .await;
}

async fn until_elected(queue: &Queue) {
    let elected = async {
        let mut connection = DedicatedConnection::new(&queue.shared().pool);
        while rank(queue.shared(), &mut connection).await.unwrap() != Standing::Ranked(Rank::Eldest)
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), elected)
        .await
        .expect("it is elected");
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn the_eldest_living_process_is_elected_whatever_its_own_clock_says(pool: PgPool) {
    let eldest = open(&pool);
    until_elected(&eldest).await;
    // Ids are in the order of the processes' own clocks. This one's clock is at the beginning of
    // the epoch.
    sqlx::query(
        "insert into queue.workers (id, expires_at)
         values ('00000000-0000-7000-8000-000000000000', now() + interval '1 hour')",
    )
    .execute(&pool)
    .await
    .unwrap();
    let youngest = open(&pool);
    while !youngest.shared().lease.is_held() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut connection = DedicatedConnection::new(&eldest.shared().pool);
    // Its housekeeping notices this in its next round.
    while !eldest.reports() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let rank_of = async |queue: &Queue, connection: &mut DedicatedConnection| {
        rank(queue.shared(), connection).await.unwrap()
    };
    assert_eq!(
        rank_of(&eldest, &mut connection).await,
        Standing::Ranked(Rank::Eldest)
    );
    assert_eq!(
        rank_of(&youngest, &mut connection).await,
        Standing::Outranked
    );
    // The second oldest never appears again. The statistics do not wait for a lease to end.
    sqlx::query("delete from queue.workers where id = '00000000-0000-7000-8000-000000000000'")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(
        rank_of(&youngest, &mut connection).await,
        Standing::Ranked(Rank::Next)
    );
    eldest.close(Duration::from_secs(1)).await;
    until_elected(&youngest).await;
    youngest.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_process_rescues_when_it_starts_although_two_that_were_killed_seem_to_live(pool: PgPool) {
    sqlx::raw_sql(
        "insert into queue.workers (id, expires_at)
         select gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 2);
         insert into queue.jobs (queue, lane, payload, max_attempts, state, locked_by, attempt, fence)
         select 'q', gen_random_uuid(), '{}', 5, 1, gen_random_uuid(), 1, 1 from generate_series(1, 10)",
    )
    .execute(&pool)
    .await
    .unwrap();
    let queue = open(&pool);
    let rescued = async {
        let running = "select count(*) from queue.jobs where state = 1";
        while sqlx::query_scalar::<_, i64>(running)
            .fetch_one(&pool)
            .await
            .unwrap()
            > 0
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), rescued)
        .await
        .expect("they are rescued");
    queue.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn two_that_keep_house_at_once_rescue_every_job_once(pool: PgPool) {
    const JOBS: i64 = 1500;
    let (one, other) = (at_rest(&pool, config()), at_rest(&pool, config()));
    sqlx::query(
        "insert into queue.jobs (queue, lane, payload, max_attempts, state, locked_by, attempt, fence)
         select 'q', gen_random_uuid(), '{}', case when n % 3 = 0 then 1 else 5 end, 1, gen_random_uuid(), 1, 1
           from generate_series(1, $1) n",
    )
    .bind(JOBS)
    .execute(&pool)
    .await
    .unwrap();
    // An hour late, so that only the promotion of late jobs finds them.
    sqlx::raw_sql(
        "select setval('queue.promoted_until', (extract(epoch from now()) * 1000000)::bigint);
         insert into queue.jobs (queue, lane, payload, max_attempts, state, run_at)
         select 'late', gen_random_uuid(), '{}', 5, 2, now() - interval '1 hour'
           from generate_series(1, 2500);
         insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, died_at,
                                      cause, error, payload)
         select -n, 'q', gen_random_uuid(), 0, 1, 1, now(), now() - n * interval '1 day', 'aborted', '', '{}'
           from generate_series(1, 100) n",
    )
    .execute(&pool)
    .await
    .unwrap();
    let keep = keep_house;
    tokio::join!(keep(&one), keep(&other), keep(&one), keep(&other));

    let states: Vec<(String, i16, i64)> = sqlx::query_as(
        "select queue, state, count(*) from queue.jobs
          where (attempt, fence) in ((1, 1), (0, 0)) and locked_by is null
          group by 1, 2 order by 1, 2",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let expected = [
        ("late", 0, 2500),
        ("q", 0, JOBS * 2 / 3),
        ("q", 3, JOBS / 3),
    ];
    assert_eq!(
        states,
        expected.map(|(queue, state, jobs)| (queue.to_owned(), state, jobs))
    );
    let kept: Option<i64> = sqlx::query_scalar("select count(*) from queue.dead_jobs")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(kept, Some(89), "those dead for less than 90 days");
    for queue in [one, other] {
        queue.close(Duration::from_secs(1)).await;
    }
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_duty_that_cannot_be_done_keeps_no_other_from_being_done(pool: PgPool) {
    // So long does tidying wait.
    let deadline = Duration::from_secs(2);
    let queue = at_rest(
        &pool,
        Config {
            deadline,
            ..config()
        },
    );
    sqlx::query(
        "insert into queue.dead_jobs (id, queue, lane, priority, attempt, max_attempts, created_at, died_at,
                                      cause, error, payload)
         values (-1, 'q', $1, 0, 1, 1, now(), now() - interval '1 year', 'aborted', '', '{}')",
    )
    .bind(Uuid::nil())
    .execute(&pool)
    .await
    .unwrap();
    // Tidying comes before the purge, and waits for this lock.
    let mut somebody = pool.begin().await.unwrap();
    sqlx::query("lock table queue.lanes in access exclusive mode")
        .execute(&mut *somebody)
        .await
        .unwrap();
    keep_house(&queue).await;
    let dead: i64 = sqlx::query_scalar("select count(*) from queue.dead_jobs")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(dead, 0);
    somebody.rollback().await.unwrap();
    queue.close(Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_job_scheduled_by_a_transaction_that_ended_late_is_not_forgotten(pool: PgPool) {
    let queue = at_rest(&pool, config());
    let mut late = pool.begin().await.unwrap();
    sqlx::query(
        "insert into queue.jobs (queue, lane, payload, max_attempts, state, run_at)
         values ('q', $1, '{}', 5, 2, now() - interval '1 minute')",
    )
    .bind(Uuid::nil())
    .execute(&mut *late)
    .await
    .unwrap();
    keep_house(&queue).await;
    // In the transaction: others do not see the job yet.
    let claim = "select coalesce(cardinality(ids), 0)
                   from queue.claim(gen_random_uuid(), 'q', 9, gen_random_uuid(), 64, null, null, 0::smallint)";
    let claimed: i32 = sqlx::query_scalar(claim)
        .fetch_one(&mut *late)
        .await
        .unwrap();
    assert_eq!(claimed, 0, "claims do not look so far back");
    late.commit().await.unwrap();
    keep_house(&queue).await;
    let claimed: i32 = sqlx::query_scalar(claim).fetch_one(&pool).await.unwrap();
    assert_eq!(claimed, 1);
    queue.close(Duration::from_secs(1)).await;
}
