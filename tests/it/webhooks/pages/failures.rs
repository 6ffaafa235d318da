//! A page whose endpoint fails, is gone, limits requests or is disabled.

use std::collections::HashSet;

use sqlx::PgPool;

use super::{BUSY, CAP, SOON, setup::Stage};
use crate::support::{Act, Receiver, ScriptedServer, eventually};

#[sqlx::test(migrations = false)]
async fn case_60_each_failed_delivery_goes_on_by_itself_and_the_breaker_opens(pool: PgPool) {
    let server = ScriptedServer::start(|_, _| Act::head("500 Oops")).await;
    let stage = Stage::new(pool, &server.url("/"), &server.allowed()).await;
    let items = stage.singles(90).await;
    for page in items.chunks(CAP) {
        stage.enqueue(page).await;
    }
    let worker = stage.worker(&[]).await;
    // The endpoint fails until the end.
    worker.leaves_jobs();
    eventually("the breaker opens", SOON, async || {
        let open = "select count(*) from webhook_endpoint_states where open_until is not null";
        (stage.count(open).await == 1).then_some(())
    })
    .await;
    // Running deliveries end.
    let no_job_runs = "select count(*) from queue.jobs where state = 1";
    eventually("no job runs", SOON, async || {
        (stage.count(no_job_runs).await == 0).then_some(())
    })
    .await;
    let attempts = stage.attempts().await;
    assert!((10..=10 + 32).contains(&attempts), "{attempts} attempts");
    assert_eq!(i64::try_from(server.asked("/")).unwrap(), attempts);
    for delivery in items.concat() {
        assert_eq!(stage.jobs_of(delivery).await, 1, "{delivery}");
    }
    // A failed delivery's job is due at the time of its next attempt. The other jobs are due at
    // once, or when the breaker closes.
    let off = "select count(*)
        from deliveries d
        join queue.jobs j on position(d.id::text in j.payload::text) > 0
        where d.attempts = 1 and (
            j.payload ->> 'delivery' is null or abs(extract(epoch from j.run_at - d.next_attempt_at)) > 0.1
            or extract(epoch from d.next_attempt_at - now()) > 6.1
        )";
    assert_eq!(stage.count(off).await, 0);
    let failed = "select count(*) from deliveries where attempts = 1 and state = 'pending'";
    assert_eq!(stage.count(failed).await, attempts);
}

#[sqlx::test(migrations = false)]
async fn case_60_gone_ends_a_page_at_once(pool: PgPool) {
    let server =
        ScriptedServer::start(|_, asked| Act::head(if asked < 3 { "200 OK" } else { "410 Gone" }))
            .await;
    let stage = Stage::new(pool, &server.url("/"), &server.allowed()).await;
    let items = stage.singles(20).await;
    stage.enqueue(&items).await;
    let _worker = stage.worker(&[BUSY]).await;
    stage.all_are("discarded", &items[2..], SOON).await;
    stage.all_are("delivered", &items[..2], SOON).await;
    assert_eq!(server.asked("/"), 3);
    assert_eq!(stage.attempts().await, 3);
}

#[sqlx::test(migrations = false)]
async fn case_60_a_limit_puts_the_rest_back_as_one_page(pool: PgPool) {
    let receiver = Receiver::start().await;
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    stage
        .run("update webhook_endpoints set max_per_second = 3")
        .await;
    stage.record_permits().await;
    let items = stage.singles(9).await;
    stage.enqueue(&items).await;
    let _worker = stage.worker(&[BUSY]).await;
    let mut jobs = HashSet::new();
    eventually("all are delivered", SOON, async || {
        jobs.insert(stage.jobs().await);
        (stage.attempts().await == 9).then_some(())
    })
    .await;
    assert!(jobs.iter().all(|jobs| *jobs <= 1), "{jobs:?}");
    assert_eq!(receiver.received().len(), 9);
    // What is sent and what arrives may wait for its turn on a busy machine, and what was permitted does not tell of that.
    let (permitted, most) = stage.permits().await;
    assert!(
        permitted >= 9 && most <= 3,
        "{permitted}, {most} in one second"
    );
}

#[sqlx::test(migrations = false)]
async fn case_60_what_ended_and_what_is_disabled_is_not_sent(pool: PgPool) {
    let receiver = Receiver::start().await;
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.singles(8).await;
    stage.enqueue(&items).await;
    // As if these had been sent by other jobs.
    stage
        .run(
            "update deliveries set state = 'delivered', attempts = 1, ended_at = now()
             where id in (select id from deliveries order by id limit 4)",
        )
        .await;
    let worker = stage.worker(&[]).await;
    stage.all_are("delivered", &items, SOON).await;
    assert_eq!(receiver.received().len(), 4);
    drop(worker);

    stage
        .run("update webhook_endpoints set disabled_at = now(), disabled_reason = 'test'")
        .await;
    let items = stage.items(8).await;
    stage.enqueue(&items).await;
    let _worker = stage.worker(&[]).await;
    stage.all_are("discarded", &items, SOON).await;
    assert_eq!(receiver.received().len(), 4);
}

#[sqlx::test(migrations = false)]
async fn case_61_jobs_of_older_binaries_are_sent(pool: PgPool) {
    let receiver = Receiver::start().await;
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.singles(3).await;
    for delivery in items.concat() {
        stage.enqueue_as_older_binaries_do(delivery).await;
    }
    let _worker = stage.worker(&[]).await;
    stage.all_are("delivered", &items, SOON).await;
    assert_eq!(receiver.received().len(), 3);
}
