//! The order of what a page tells, and how many requests run at once.

use std::time::{Duration, Instant};

use domain::{id::DeliveryId, webhook::ATTEMPT_DEADLINE};
use sqlx::PgPool;

use super::{BUSY, CAP, SOON, setup::Stage};
use crate::support::{Act, Receiver, ScriptedServer, eventually};

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
    // The verdicts are enqueued first, and both pages run at the same time.
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
    let worker = stage.worker(&[]).await;
    // The endpoint never answers.
    worker.leaves_jobs();
    let begun = eventually("a first request", SOON, async || {
        (server.asked("/") > 0).then(Instant::now)
    })
    .await;
    eventually("the cap is reached", SOON, async || {
        (server.asked("/") >= CAP).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // On a machine that is too busy, the first requests end meanwhile, and others take their place.
    let asked = server.asked("/");
    let ended = begun.elapsed() > ATTEMPT_DEADLINE || stage.attempts().await > 0;
    assert!(asked == CAP || ended, "{asked} requests at once");
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
    let begun = Instant::now();
    let worker = first.worker(&settings).await;
    // The slow endpoints never answer.
    worker.leaves_jobs();
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
    // On a machine that is too busy, the slow requests end meanwhile, and this tells nothing.
    let (ended, asked) = (first.count(ended).await, slow.asked("/"));
    assert!(
        (ended == 0 && asked <= 32) || begun.elapsed() > ATTEMPT_DEADLINE,
        "{ended} of {asked} slow requests have ended"
    );
}
