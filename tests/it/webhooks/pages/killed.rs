//! A worker is killed while it sends a page.

use std::{collections::HashMap, time::Duration};

use sqlx::{PgPool, types::Uuid};

use super::{BUSY, SOON, setup::Stage};
use crate::support::{Act, Receiver, ScriptedServer, eventually};

const LEASE: (&str, &str) = ("GATEHOUSE_LEASE_SECONDS", "2");

#[sqlx::test(migrations = false)]
async fn case_58_a_killed_page_sends_again_only_what_was_not_recorded(pool: PgPool) {
    let receiver = Receiver::start().await;
    // A page takes five seconds, and its progress is recorded every 250 ms.
    receiver.answer(200, Duration::from_millis(160));
    // The rest of the page waits for an answer until the process is killed.
    receiver.answer_only(16);
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.singles(32).await;
    stage.enqueue(&items).await;
    let worker = stage.worker(&[BUSY, LEASE]).await;
    eventually("something is recorded", SOON, async || {
        (stage.attempts().await > 0).then_some(())
    })
    .await;
    worker.kill();
    drop(worker);
    receiver.answer_only(usize::MAX);
    receiver.answer(200, Duration::ZERO);
    eventually("the killed process's statements end", SOON, async || {
        let backends = "select count(*) from pg_stat_activity
            where datname = current_database() and application_name like 'gatehouse%'";
        (stage.count(backends).await == 0).then_some(())
    })
    .await;
    let recorded: Vec<Uuid> = stage.all("select delivery_id from delivery_attempts").await;
    let sent = receiver.received().len();
    assert!((1..31).contains(&recorded.len()), "{}", recorded.len());

    let worker = stage.worker(&[LEASE]).await;
    stage.all_are("delivered", &items, SOON).await;
    let mut requests: HashMap<String, usize> = HashMap::new();
    for request in receiver.received() {
        let id = request.header("x-service-delivery-id").to_owned();
        *requests.entry(id).or_default() += 1;
    }
    for delivery in &recorded {
        assert_eq!(requests[&delivery.to_string()], 1, "it was recorded");
    }
    let again = requests.values().filter(|times| **times == 2).count();
    assert_eq!(again, sent - recorded.len());
    assert!(requests.values().all(|times| *times <= 2), "{requests:?}");
    // One of the deliveries may have caused the crash, so the page is split.
    assert!(stage.spread("rerun", &worker).await > 0);
}

#[sqlx::test(migrations = false)]
async fn case_58_what_a_page_handed_on_before_it_was_killed_is_in_one_job(pool: PgPool) {
    // The first request is never answered, and all others are refused for longer than this test takes.
    let server = ScriptedServer::start(|_, asked| match asked {
        1 => Act::Hang,
        _ => Act::head("503 Busy\r\nRetry-After: 3600"),
    })
    .await;
    let stage = Stage::new(pool, &server.url("/"), &server.allowed()).await;
    let items = stage.singles(6).await;
    stage.enqueue(&items).await;
    let worker = stage.worker(&[BUSY, LEASE]).await;
    eventually("the others have failed", SOON, async || {
        (stage.attempts().await == 5).then_some(())
    })
    .await;
    for delivery in items.concat() {
        assert_eq!(stage.jobs_of(delivery).await, 1, "{delivery}");
    }
    worker.kill();
    drop(worker);
    // The other retries must not come due during this test.
    stage
        .run("update queue.jobs set run_at = now() + interval '1 hour' where state = 2")
        .await;
    let worker = stage.worker(&[LEASE]).await;
    // The first delivery fails again, and the other retries are put off.
    worker.leaves_jobs();
    let first = items[0][0];
    eventually("the first one is sent again", SOON, async || {
        (stage.standing(first).await.1 == 1).then_some(())
    })
    .await;
    assert_eq!(server.asked("/"), 7, "nothing else was");
    for delivery in items.concat() {
        assert_eq!(stage.standing(delivery).await, ("pending".to_owned(), 1));
    }
}
