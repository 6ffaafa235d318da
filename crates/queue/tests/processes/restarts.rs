//! Postgres goes away and comes back: by a stop, by a crash, or by ending its sessions.

use std::time::Duration;

use tokio::time::sleep;

use crate::{
    external_service::ExternalService,
    harness::{assert_each_once, count, effects, enqueue, eventually, texts, until, until_idle},
    jobs::{Act, End, act, call, job},
    postgres::Postgres,
    worker::{Setup, Worker},
};

async fn restart_under_load(rounds: u32, jobs_a_round: u32) {
    let server = Postgres::start().await;
    let pool = &server.pool;
    let setup = Setup::on(pool);
    let mut workers = [(); 2].map(|()| Worker::start(&setup));
    let mut enqueued = 0;
    for round in 1..=rounds {
        let batch = enqueued..enqueued + jobs_a_round;
        enqueued = batch.end;
        let acts = batch.map(|n| Act {
            sleep_ms: 10,
            ..act(n)
        });
        enqueue(pool, acts.map(|act| job(&act))).await;
        let some = |share: u32| i64::from(enqueued - jobs_a_round + jobs_a_round * share / 10);
        until_effects(&server, some(2)).await;
        let others = "select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()";
        sqlx::query(others).execute(pool).await.unwrap();
        until_effects(&server, some(5)).await;
        server.stop();
        // Long enough for all processes to notice.
        sleep(Duration::from_millis(300)).await;
        server.start_again();
        eprintln!("round {round} of {rounds}: {enqueued} jobs enqueued");
    }
    until_idle(pool).await;
    assert_each_once(pool, enqueued.into()).await;
    for worker in &mut workers {
        assert_eq!(worker.ended(), None, "a worker ended by itself");
    }
    for worker in workers {
        worker.stop().await;
    }
}

async fn until_effects(server: &Postgres, effects: i64) {
    eventually("effects", async || {
        let done = sqlx::query_scalar::<_, i64>("select count(*) from effects")
            .fetch_one(&server.pool)
            .await;
        done.is_ok_and(|done| done >= effects).then_some(())
    })
    .await;
}

#[tokio::test]
async fn case_05_a_restart_of_postgres_under_load_is_waited_out() {
    restart_under_load(1, 500).await;
}

#[tokio::test]
#[ignore = "long; run by `make reliability`"]
async fn case_05_ten_restarts_of_postgres_under_load_are_waited_out() {
    restart_under_load(10, 5000).await;
}

/// The test does not wait for an hour. After the restart, it moves the due time by an hour, which
/// is all that a clock does. In addition, a wait of seconds really passes.
#[tokio::test]
async fn case_11_a_retry_is_on_time_although_everything_was_restarted() {
    let server = Postgres::start().await;
    let pool = &server.pool;
    let setup = Setup::on(pool);
    let first = Worker::start(&setup);
    let later = |name, seconds| {
        job(&Act {
            end: End::FailOnce { seconds },
            ..act(name)
        })
    };
    enqueue(pool, [later("hour", 3600), later("seconds", 10)]).await;
    until(pool, "select count(*) = 2 from queue.jobs where state = 2").await;
    let times = "select concat_ws(' ', payload ->> 'name', attempt, run_at)
                   from queue.jobs order by run_at desc";
    let planned = texts(pool, times).await;
    assert!(planned[0].starts_with("hour 1 "), "{planned:?}");
    let ahead = "select count(*) from queue.jobs
                  where run_at between now() + '59 min' and now() + '1 hour'";
    assert_eq!(count(pool, ahead).await, 1);
    let due: String = texts(
        pool,
        "select max(run_at)::text from queue.jobs where run_at < now() + '1 min'",
    )
    .await
    .concat();
    first.kill();
    server.crash();
    server.start_again();
    assert_eq!(texts(pool, times).await, planned);
    let second = Worker::start(&setup);

    until(pool, "select exists (select from effects)").await;
    assert_eq!(effects(pool).await, ["seconds 2"]);
    let late: f64 = sqlx::query_scalar(
        "select extract(epoch from at - $1::text::timestamptz)::float8 from effects",
    )
    .bind(due)
    .fetch_one(pool)
    .await
    .unwrap();
    assert!(late >= 0.0, "{late} s late");

    sqlx::query("update queue.jobs set run_at = run_at - interval '1 hour'")
        .execute(pool)
        .await
        .unwrap();
    until_idle(pool).await;
    assert_eq!(effects(pool).await, ["hour 2", "seconds 2"]);
    second.stop().await;
}

/// Claims do not wait for the disk, so a crash may lose them while their jobs run. The test proves
/// something only if that happens, so it repeats until it does.
#[tokio::test]
async fn case_q4_claims_lost_in_a_crash_of_postgres_lose_and_double_no_effect() {
    let server = Postgres::start().await;
    let pool = &server.pool;
    let witness = ExternalService::answering(0).await;
    let setup = Setup {
        // Every heartbeat and every sweep writes the earlier claims to the disk, so there must be
        // few.
        lease_ms: 120_000,
        sweep_ms: 60_000,
        concurrency: 32,
        ..Setup::on(pool).calling(&witness)
    };
    let workers = [(); 2].map(|()| Worker::start(&setup));
    until(pool, "select count(*) = 2 from queue.workers").await;
    let mut jobs = 0;
    while witness.calls().len() == jobs {
        assert!(jobs < 200, "no claim was ever lost");
        let asked = witness.calls().len();
        witness.answer(asked);
        enqueue(pool, (jobs..jobs + 20).map(|n| job(&call(n)))).await;
        jobs += 20;
        witness.until_called(asked + 20).await;
        server.crash();
        server.start_again();
        // Every lost job is claimed again, while its first run still waits.
        until(pool, "select count(*) = 20 from queue.jobs where state = 1").await;
        sleep(Duration::from_millis(200)).await;
        witness.answer_all();
        until_idle(pool).await;
    }
    let repeated = witness.calls().len() - jobs;
    assert_each_once(pool, i64::try_from(jobs).unwrap()).await;
    let mut done = 0;
    for worker in workers {
        done += worker.stop().await.done();
    }
    eprintln!("{repeated} of {jobs} jobs ran twice, {done} outcomes were accepted");
    assert_eq!(done, u64::try_from(jobs).unwrap());
}
