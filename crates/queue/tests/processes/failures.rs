//! Jobs that fail every time, in different ways: they are charged, they die in the end, and they
//! harm no other job.

use queue::NewJob;
use serde_json::json;
use sqlx::PgPool;

use crate::{
    external_service::ExternalService,
    harness::{PATIENCE, assert_each_once, count, enqueue, prepare, texts, until_idle, within},
    jobs::{Act, End, Kind, WORK, act, call, job, lane},
    worker::{Setup, Worker},
};

const DEAD: &str = "select payload ->> 'name' || ' ' || attempt || ' ' || cause
                      from queue.dead_jobs order by 1";

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_07_handlers_that_fail_panic_or_hang_every_time_die_after_their_attempts(
    pool: PgPool,
) {
    prepare(&pool).await;
    let witness = ExternalService::start().await;
    let setup = Setup {
        concurrency: 3,
        // Long enough for jobs that do not hang, however busy the machine is.
        time_out_ms: 1_500,
        ..Setup::on(&pool).calling(&witness)
    };
    let failing = [
        ("fails", End::Fail),
        ("hangs", End::Hang),
        ("panics", End::Panic),
    ];
    // More jobs than slots: a slot that was not freed would be missed.
    for _ in 0..4 {
        let acts = failing.map(|(name, end)| Act { end, ..call(name) });
        enqueue(&pool, acts.map(|act| job(&act).max_attempts(3))).await;
    }
    enqueue(&pool, (0..20).map(|n| job(&act(n)))).await;
    let worker = Worker::start(&setup);
    until_idle(&pool).await;
    assert_each_once(&pool, 20).await;
    let dead = texts(&pool, DEAD).await;
    let expected = failing.map(|(name, _)| vec![format!("{name} 3 exhausted"); 4]);
    assert_eq!(dead, expected.concat());
    assert_eq!(witness.calls().len(), 3 * 4 * 3);
    let counted = worker.stop().await;
    for reason in ["error", "timeout", "panic"] {
        let retries = counted.sum(queue::metrics::JOB_RETRIES, reason);
        assert_eq!(retries, 8, "{reason}");
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_07_a_handler_that_takes_its_process_down_every_time_dies_after_its_attempts(
    pool: PgPool,
) {
    prepare(&pool).await;
    let witness = ExternalService::start().await;
    let setup = Setup::on(&pool).calling(&witness);
    let killer = Act {
        end: End::AbortProcess,
        sleep_ms: 50,
        ..call("killer")
    };
    enqueue(&pool, [job(&killer).max_attempts(3)]).await;
    let siblings = (0..100).map(|n| Act {
        sleep_ms: 20,
        ..act(n)
    });
    enqueue(&pool, siblings.map(|act| job(&act))).await;
    let mut worker = Worker::start(&setup);
    let mut deaths = 0;
    // Three leases have to end, and four processes to start.
    within(PATIENCE * 4, "an idle queue", async || {
        if worker.ended().is_some() {
            deaths += 1;
            worker = Worker::start(&setup);
        }
        let left = count(&pool, "select count(*) from queue.jobs").await;
        (left == 0).then_some(())
    })
    .await;
    assert_eq!(deaths, 3);
    assert_eq!(witness.calls(), ["killer"; 3]);
    assert_eq!(texts(&pool, DEAD).await, ["killer 3 worker_lost"]);
    assert_each_once(&pool, 100).await;
    worker.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_08_undecodable_payloads_die_and_their_siblings_run(pool: PgPool) {
    prepare(&pool).await;
    let odd = [json!({ "name": 7 }), json!("nonsense"), json!(null)];
    let jobs = (0..40).map(|n| match odd.get(n / 4).filter(|_| n % 4 == 1) {
        Some(payload) => NewJob::new(WORK, lane(1), payload),
        None => job(&act(n)),
    });
    enqueue(&pool, jobs).await;
    let worker = Worker::start(&Setup::on(&pool));
    until_idle(&pool).await;
    assert_each_once(&pool, 37).await;
    let dead = "select payload::text || ' ' || attempt || ' ' || cause
                  from queue.dead_jobs order by id";
    assert_eq!(
        texts(&pool, dead).await,
        odd.map(|payload| format!("{payload} 1 undecodable"))
    );
    assert_eq!(worker.stop().await.done(), 37);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_35_an_effect_that_fails_in_sql_harms_no_sibling_of_its_batch(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::answering(0).await;
    let setup = Setup {
        concurrency: 64,
        prefetch: 64,
        ..Setup::on(&pool).calling(&witness)
    };
    let worker = Worker::start(&setup);
    let acts = (0..64).map(|n| Act {
        effect: match n % 20 {
            7 => Kind::Poison,
            _ => Kind::Plain,
        },
        ..call(n)
    });
    enqueue(&pool, acts.map(|act| job(&act).max_attempts(2))).await;
    // All end at once, so that very few batches finish them.
    witness.until_called(64).await;
    witness.answer_all();
    until_idle(&pool).await;
    assert_each_once(&pool, 61).await;
    assert_eq!(
        count(&pool, "select count(*) from effects where attempt = 1").await,
        61
    );
    assert_eq!(
        texts(&pool, DEAD).await,
        ["27 2 exhausted", "47 2 exhausted", "7 2 exhausted"]
    );
    let errors = texts(&pool, "select error from queue.dead_jobs").await;
    assert!(
        errors.iter().all(|error| error.contains("effects_sound")),
        "{errors:?}"
    );
    let counted = worker.stop().await;
    assert_eq!(counted.sum(queue::metrics::JOB_RETRIES, "effect"), 3);
    assert_eq!((counted.done(), counted.refused()), (61, 0));
}
