//! Processes that are killed (in a job, between its call to another system and its commit, or
//! around the commit) or told to stop.

use sqlx::PgPool;

use crate::{
    external_service::ExternalService,
    harness::{assert_each_once, count, effects, enqueue, eventually, prepare, until, until_idle},
    jobs::{Act, Kind, call, job},
    proxy::{Proxy, Trap},
    worker::{Setup, Worker},
};

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_01_jobs_of_a_killed_worker_run_elsewhere(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::answering(0).await;
    let setup = Setup::on(&pool).calling(&witness);
    let victim = Worker::start(&setup);
    enqueue(&pool, (0..8).map(|n| job(&call(n)))).await;
    witness.until_called(8).await;
    let other = Worker::start(&setup);
    victim.kill();
    witness.answer_all();
    until_idle(&pool).await;
    assert_each_once(&pool, 8).await;
    assert_eq!(
        count(&pool, "select count(*) from effects where attempt = 2").await,
        8
    );
    assert_eq!(witness.calls().len(), 16);
    other.stop().await;
}

/// Lets a worker run one job behind a proxy, and sets this trap for the commit. Returns once the
/// trap has sprung.
async fn trapped(pool: &PgPool, witness: &ExternalService, trap: Trap) -> Worker {
    trapped_in(pool, witness, trap, &call("job")).await
}

/// The same with a job of another kind.
async fn trapped_in(pool: &PgPool, witness: &ExternalService, trap: Trap, act: &Act) -> Worker {
    prepare(pool).await;
    let options = pool.connect_options();
    let proxy = Proxy::start(options.get_host(), options.get_port());
    proxy.set(&["COMMIT"], trap);
    enqueue(pool, [job(act)]).await;
    let setup = Setup {
        // Its first claim finds the job. While a claim is under way, a follow-up job is not taken at once.
        poll_ms: 60_000,
        // It does not commit again before the test has looked, however busy the machine is.
        deadline_ms: match trap {
            Trap::HoldBefore | Trap::HoldAfter => 60_000,
            Trap::CutBefore | Trap::CutAfter => 2_000,
        },
        ..Setup::through(pool, &proxy).calling(witness)
    };
    let worker = Worker::start(&setup);
    eventually("a commit", async || proxy.has_sprung().then_some(())).await;
    worker
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_02_a_worker_killed_between_its_call_and_its_commit_leaves_one_effect(pool: PgPool) {
    let witness = ExternalService::start().await;
    let victim = trapped(&pool, &witness, Trap::HoldBefore).await;
    victim.kill();
    assert_eq!(effects(&pool).await, [""; 0]);
    let other = Worker::start(&Setup::on(&pool).calling(&witness));
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["job 2"]);
    // The call to another system happened twice. The queue promises no more, so providers get
    // idempotent questions.
    assert_eq!(witness.calls(), ["job", "job"]);
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q1_a_worker_killed_between_its_commit_and_the_answer_leaves_nothing_to_do(
    pool: PgPool,
) {
    let witness = ExternalService::start().await;
    let victim = trapped(&pool, &witness, Trap::HoldAfter).await;
    victim.kill();
    assert_eq!(effects(&pool).await, ["job 1"]);
    assert_eq!(count(&pool, "select count(*) from queue.jobs").await, 0);
    assert_eq!(witness.calls(), ["job"]);
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q1_a_commit_that_never_arrived_is_made_again_without_running_again(pool: PgPool) {
    let witness = ExternalService::start().await;
    let worker = trapped(&pool, &witness, Trap::CutBefore).await;
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["job 1"]);
    assert_eq!(witness.calls(), ["job"]);
    let counted = worker.stop().await;
    assert_eq!((counted.done(), counted.refused()), (1, 0));
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q1_a_commit_whose_answer_is_lost_counts_as_made(pool: PgPool) {
    let witness = ExternalService::start().await;
    let worker = trapped(&pool, &witness, Trap::CutAfter).await;
    assert_eq!(effects(&pool).await, ["job 1"]);
    let counted = worker.stop().await;
    assert_eq!((counted.done(), counted.refused()), (1, 0));
    assert_eq!(effects(&pool).await, ["job 1"]);
    assert_eq!(witness.calls(), ["job"]);
}

fn with_follow_up() -> Act {
    Act {
        effect: Kind::FollowUp,
        ..call("job")
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q5_a_follow_up_job_whose_process_is_killed_before_it_starts_runs_elsewhere(
    pool: PgPool,
) {
    let witness = ExternalService::start().await;
    let victim = trapped_in(&pool, &witness, Trap::HoldAfter, &with_follow_up()).await;
    victim.kill();
    assert_eq!(effects(&pool).await, ["job 1"]);
    assert_eq!(
        count(
            &pool,
            "select count(*) from queue.jobs where state = 1 and fence = 1 and attempt = 1"
        )
        .await,
        1,
        "it was taken at once"
    );
    let other = Worker::start(&Setup::on(&pool).calling(&witness));
    until_idle(&pool).await;
    // The victim's attempt is charged, like that of every job whose worker dies.
    assert_eq!(effects(&pool).await, ["after job 2", "job 1"]);
    assert_eq!(witness.calls(), ["job", "after job"]);
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q5_a_follow_up_job_whose_commit_never_arrived_is_made_again_and_runs_once(
    pool: PgPool,
) {
    let witness = ExternalService::start().await;
    let worker = trapped_in(&pool, &witness, Trap::CutBefore, &with_follow_up()).await;
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["after job 1", "job 1"]);
    assert_eq!(witness.calls(), ["job", "after job"]);
    worker.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q5_a_follow_up_job_whose_commit_was_not_answered_starts_where_it_was_made(
    pool: PgPool,
) {
    let witness = ExternalService::start().await;
    let worker = trapped_in(&pool, &witness, Trap::CutAfter, &with_follow_up()).await;
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["after job 1", "job 1"]);
    assert_eq!(witness.calls(), ["job", "after job"]);
    worker.stop().await;
}

fn with_checkpoint() -> Act {
    Act {
        checkpoint: Some("half".to_owned()),
        ..call("job")
    }
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q6_a_checkpoint_whose_process_is_killed_is_recorded_and_the_job_runs_elsewhere(
    pool: PgPool,
) {
    let witness = ExternalService::start().await;
    let victim = trapped_in(&pool, &witness, Trap::HoldAfter, &with_checkpoint()).await;
    victim.kill();
    assert_eq!(effects(&pool).await, ["half 1"]);
    let other = Worker::start(&Setup::on(&pool).calling(&witness));
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["half 1", "half 2", "job 2"]);
    other.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_q6_a_checkpoint_is_recorded_once_whatever_becomes_of_its_commit(pool: PgPool) {
    let witness = ExternalService::start().await;
    let worker = trapped_in(&pool, &witness, Trap::CutAfter, &with_checkpoint()).await;
    until_idle(&pool).await;
    assert_eq!(effects(&pool).await, ["half 1", "job 1"]);
    assert_eq!(witness.calls(), ["job"]);
    worker.stop().await;
}

#[sqlx::test(migrator = "queue::MIGRATOR")]
async fn case_09_a_worker_told_to_stop_drains_and_returns_the_rest_uncharged(pool: PgPool) {
    prepare(&pool).await;
    let witness = ExternalService::answering(0).await;
    let setup = Setup {
        concurrency: 4,
        ..Setup::on(&pool).calling(&witness)
    };
    let worker = Worker::start(&setup);
    enqueue(&pool, (0..50).map(|n| job(&call(n)))).await;
    witness.until_called(4).await;
    until(
        &pool,
        "select count(*) > 20 from queue.jobs where state = 1",
    )
    .await;
    worker.signal(rustix::process::Signal::TERM);
    // Jobs that were claimed and not started go back while the four still run.
    until(&pool, "select count(*) = 4 from queue.jobs where state = 1").await;
    assert_eq!(
        count(
            &pool,
            "select max(attempt)::bigint from queue.jobs where state = 0"
        )
        .await,
        0
    );
    witness.answer_all();
    let counted = worker.counters().await;
    assert_eq!((counted.done(), counted.refused()), (4, 0));
    assert_eq!(witness.calls().len(), 4);
    assert_each_once(&pool, 4).await;
    let left =
        "select count(*) from queue.jobs where state = 0 and attempt = 0 and locked_by is null";
    assert_eq!(count(&pool, left).await, 46);
    assert_eq!(count(&pool, "select count(*) from queue.workers").await, 0);
}
