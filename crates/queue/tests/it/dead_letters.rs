//! Death: no job vanishes, and the service is told in the same transaction.

use queue::{DeadJob, FinishTx, NewJob, OnDead, dead_jobs};
use sqlx::PgPool;

use crate::support::{
    Act, End, Process, WORK, act, count, enqueue, job, lane, names, prepare, quick, settings,
    until, until_idle,
};

/// Writes a row for each dead job.
struct Notice;

impl OnDead for Notice {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for job in dead {
            let name = job
                .args::<Act>()
                .map_or_else(|_| job.payload.clone(), |act| act.name);
            sqlx::query("insert into obituaries (name, cause) values ($1, $2)")
                .bind(name)
                .bind(job.cause.as_str())
                .execute(&mut *tx.conn)
                .await?;
        }
        Ok(())
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn however_a_job_dies_it_is_kept_and_announced(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        [
            job(&Act {
                at_first: vec![End::Fail; 9],
                ..act("exhausted")
            })
            .max_attempts(2),
            job(&Act {
                at_first: vec![End::Panic; 9],
                ..act("panicking")
            })
            .max_attempts(2),
            job(&Act {
                at_first: vec![End::Abort],
                ..act("aborted")
            }),
            NewJob::new(WORK, lane(1), &"nonsense"),
            job(&act("sibling")),
        ],
    )
    .await;
    let process = Process::start(&pool, quick(), settings().on_dead::<Notice>());
    until_idle(&pool).await;
    assert_eq!(names(&pool, "select name from effects").await, ["sibling"]);
    let announced = "select name || ' ' || cause from obituaries order by 1";
    assert_eq!(
        names(&pool, announced).await,
        [
            "\"nonsense\" undecodable",
            "aborted aborted",
            "exhausted exhausted",
            "panicking exhausted"
        ]
    );
    assert_eq!(
        count(&pool, "select count(*) from queue.dead_jobs").await,
        4
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn a_job_that_loses_its_workers_is_buried_by_the_rescue(pool: PgPool) {
    prepare(&pool).await;
    enqueue(
        &pool,
        [job(&act("killer")).max_attempts(2), job(&act("victim"))],
    )
    .await;
    sqlx::query(
        "update queue.jobs
            set state = 1, locked_by = gen_random_uuid(), fence = 2,
                attempt = case payload ->> 'name' when 'killer' then 2 else 1 end",
    )
    .execute(&pool)
    .await
    .unwrap();
    let process = Process::start(&pool, quick(), settings().on_dead::<Notice>());
    until_idle(&pool).await;
    let announced = "select name || ' ' || cause from obituaries";
    assert_eq!(names(&pool, announced).await, ["killer worker_lost"]);
    assert_eq!(
        names(&pool, "select name || attempt from effects").await,
        ["victim2"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn while_on_dead_fails_the_job_stays(pool: PgPool) {
    prepare(&pool).await;
    sqlx::query("alter table obituaries add constraint no_fools check (name <> 'fool')")
        .execute(&pool)
        .await
        .unwrap();
    let dying = |name: &str| Act {
        at_first: vec![End::Abort],
        ..act(name)
    };
    enqueue(
        &pool,
        ["sage", "fool", "poet"].map(|name| job(&dying(name))),
    )
    .await;
    let process = Process::start(&pool, quick(), settings().on_dead::<Notice>());
    until(&pool, "select count(*) = 2 from queue.dead_jobs").await;
    until(
        &pool,
        "select exists (select from queue.jobs where state = 3)",
    )
    .await;
    assert_eq!(
        names(
            &pool,
            "select payload ->> 'name' from queue.jobs where state = 3"
        )
        .await,
        ["fool"]
    );
    sqlx::query("alter table obituaries drop constraint no_fools")
        .execute(&pool)
        .await
        .unwrap();
    until_idle(&pool).await;
    assert_eq!(process.started(), 3);
    assert_eq!(
        names(&pool, "select name from obituaries order by 1").await,
        ["fool", "poet", "sage"]
    );
    process.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn only_a_process_that_works_on_a_queue_buries_its_jobs(pool: PgPool) {
    prepare(&pool).await;
    let stranger = queue::Queue::open(pool.clone(), quick()).unwrap();
    enqueue(&pool, [job(&act("orphan")).max_attempts(1)]).await;
    sqlx::query("update queue.jobs set state = 1, locked_by = gen_random_uuid(), attempt = 1")
        .execute(&pool)
        .await
        .unwrap();
    until(
        &pool,
        "select exists (select from queue.jobs where state = 3)",
    )
    .await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(
        count(&pool, "select count(*) from queue.dead_jobs").await,
        0
    );
    let process = Process::start(&pool, quick(), settings().on_dead::<Notice>());
    until_idle(&pool).await;
    assert_eq!(count(&pool, "select count(*) from obituaries").await, 1);
    process.stop().await;
    stranger.close(std::time::Duration::from_secs(1)).await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn dead_jobs_are_listed_replayed_and_purged(pool: PgPool) {
    prepare(&pool).await;
    let failing = Act {
        at_first: vec![End::Fail],
        ..act("once")
    };
    let aborting = Act {
        at_first: vec![End::Abort],
        ..act("never")
    };
    enqueue(&pool, [job(&failing).max_attempts(1), job(&aborting)]).await;
    let process = Process::start(&pool, quick(), settings());
    until_idle(&pool).await;
    process.stop().await;

    let mut conn = pool.acquire().await.unwrap();
    let all = dead_jobs::list(&mut conn, dead_jobs::Filter::default(), 10)
        .await
        .unwrap();
    assert_eq!(all.len(), 2);
    let filter = dead_jobs::Filter {
        queue: Some("work"),
        error: Some("not this time"),
        ..dead_jobs::Filter::default()
    };
    let listed = dead_jobs::list(&mut conn, filter, 10).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].cause, queue::DeathCause::Exhausted);
    for expected in [1, 0] {
        let replay = dead_jobs::Replay::begin(&mut conn, filter).await;
        let batch = replay.unwrap().next(&mut conn, 10).await.unwrap();
        assert_eq!(batch.replayed, expected);
    }
    let replayed = names(
        &pool,
        "select concat_ws(' ', state, attempt, id) from queue.jobs",
    )
    .await;
    assert_eq!(replayed.len(), 1);
    assert!(replayed[0].starts_with("0 0 ") && replayed[0] != format!("0 0 {}", listed[0].id));
    let hour = std::time::Duration::from_hours(1);
    assert_eq!(dead_jobs::purge(&mut conn, hour, 10).await.unwrap(), 0);
    assert_eq!(
        dead_jobs::purge(&mut conn, std::time::Duration::ZERO, 10)
            .await
            .unwrap(),
        1
    );
}
