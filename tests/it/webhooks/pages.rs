//! Pages: jobs that send many deliveries to one endpoint. An endpoint notices nothing of them but their speed.

mod killed;
mod stage;

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use domain::{id::DeliveryId, webhook::ATTEMPT_DEADLINE};
use sqlx::PgPool;

use self::stage::Stage;
use crate::support::{Act, Receiver, ScriptedServer, eventually};

const SOON: Duration = Duration::from_secs(30);
/// Requests under way to an endpoint, over all jobs.
const CAP: usize = 32;
/// Too few jobs at once to spread a page because the process has nothing else to do.
const BUSY: (&str, &str) = ("GATEHOUSE_CONCURRENCY", "2");

#[sqlx::test(migrations = false)]
async fn case_57_a_page_tells_of_each_item_in_order_and_each_delivery_once(pool: PgPool) {
    let receiver = Receiver::start().await;
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.items(32).await;
    stage.enqueue(&items).await;
    let _worker = stage.worker(&[BUSY]).await;
    stage.all_are("delivered", &items, SOON).await;
    let received = receiver.received();
    let ids: Vec<&str> = received
        .iter()
        .map(|request| request.header("x-service-delivery-id"))
        .collect();
    let expected: Vec<String> = items.concat().iter().map(ToString::to_string).collect();
    assert_eq!(ids, expected);
    for request in &received {
        request.assert_signed(&stage.site.webhook_secret);
    }
    assert_eq!(stage.attempts().await, 64);
    eventually("no job is left", SOON, async || {
        (stage.jobs().await == 0).then_some(())
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_57_a_verdict_in_another_page_waits_for_the_acceptance(pool: PgPool) {
    let receiver = Receiver::start().await;
    receiver.answer(200, Duration::from_millis(500));
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.items(4).await;
    let of = |place: usize| {
        items
            .iter()
            .map(|item| vec![item[place]])
            .collect::<Vec<_>>()
    };
    // The verdicts come first, and each page runs beside the other.
    stage.enqueue(&of(1)).await;
    stage.enqueue(&of(0)).await;
    let _worker = stage.worker(&[]).await;
    stage.all_are("delivered", &items, SOON).await;
    let received = receiver.received();
    let place = |id: DeliveryId| {
        let id = id.to_string();
        let is = |place: &usize| received[*place].header("x-service-delivery-id") == id;
        (0..received.len()).find(is).unwrap()
    };
    for item in &items {
        assert!(place(item[0]) < place(item[1]));
    }
    assert_eq!(received.len(), 8);
}

#[sqlx::test(migrations = false)]
async fn case_59_a_slow_endpoint_gets_its_requests_side_by_side_up_to_the_cap(pool: PgPool) {
    let server = ScriptedServer::start(|_, _| Act::Hang).await;
    let stage = Stage::new(pool, &server.url("/"), &server.allowed()).await;
    let items = stage.singles(CAP + 8).await;
    for page in items.chunks(CAP) {
        stage.enqueue(page).await;
    }
    let begun = Instant::now();
    let _worker = stage.worker(&[]).await;
    eventually("the cap is reached", ATTEMPT_DEADLINE, async || {
        (server.asked("/") >= CAP).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(begun.elapsed() < ATTEMPT_DEADLINE, "too slow to tell");
    assert_eq!(server.asked("/"), CAP);
    for delivery in items.concat() {
        assert_eq!(stage.jobs_of(delivery).await, 1, "{delivery}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_59_a_team_with_many_slow_endpoints_leaves_slots_to_another(pool: PgPool) {
    let (slow, receiver) = (
        ScriptedServer::start(|_, _| Act::Hang).await,
        Receiver::start().await,
    );
    let first = Stage::new(pool.clone(), &slow.url("/"), &slow.allowed()).await;
    for place in 0..10 {
        let endpoint = if place == 0 {
            &first
        } else {
            &first.sibling().await
        };
        endpoint.enqueue(&endpoint.singles(CAP).await).await;
    }
    let well = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let allowed = [slow.allowed(), receiver.allowed()].join(",");
    let settings = [
        ("GATEHOUSE_EGRESS_ALLOW", allowed.as_str()),
        ("GATEHOUSE_OUTBOUND_CONNECTIONS", "64"),
    ];
    let _worker = first.worker(&settings).await;
    eventually("the slow team has used up its share", SOON, async || {
        (slow.asked("/") >= 16).then_some(())
    })
    .await;
    for _ in 0..3 {
        let items = well.singles(1).await;
        well.enqueue(&items).await;
        well.all_are("delivered", &items, ATTEMPT_DEADLINE).await;
    }
    let ended = "select count(*) from delivery_attempts where outcome <> 'delivered'";
    assert_eq!(
        first.count(ended).await,
        0,
        "none of the slow requests has ended"
    );
    assert!(slow.asked("/") <= 32, "{}", slow.asked("/"));
}

#[sqlx::test(migrations = false)]
async fn case_60_each_failed_delivery_goes_on_by_itself_and_the_breaker_opens(pool: PgPool) {
    let server = ScriptedServer::start(|_, _| Act::head("500 Oops")).await;
    let stage = Stage::new(pool, &server.url("/"), &server.allowed()).await;
    let items = stage.singles(90).await;
    for page in items.chunks(CAP) {
        stage.enqueue(page).await;
    }
    let _worker = stage.worker(&[]).await;
    eventually("the breaker opens", SOON, async || {
        let open = "select count(*) from webhook_endpoint_states where open_until is not null";
        (stage.count(open).await == 1).then_some(())
    })
    .await;
    // What was under way ends.
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
    // Its job is due when the delivery is, and the others are due at once or when the breaker closes.
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
    let arrivals: Vec<Instant> = receiver
        .received()
        .iter()
        .map(|request| request.at)
        .collect();
    assert_eq!(arrivals.len(), 9);
    // A second of the test's clock touches two of the server's.
    for (first, next) in arrivals.iter().zip(&arrivals[6..]) {
        assert!(*next - *first > Duration::from_millis(900));
    }
}

#[sqlx::test(migrations = false)]
async fn case_60_what_ended_and_what_is_disabled_is_not_sent(pool: PgPool) {
    let receiver = Receiver::start().await;
    let stage = Stage::new(pool, &receiver.url(), &receiver.allowed()).await;
    let items = stage.singles(8).await;
    stage.enqueue(&items).await;
    // Sent by other means meanwhile.
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
