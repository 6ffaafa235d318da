//! A team's share of the connections.

use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};

use super::{FILES, SOON, metric, start, submit};
use crate::support::{Act, DataDir, Receiver, ScriptedServer, eventually};

#[sqlx::test(migrations = false)]
async fn case_39_a_delivery_that_gets_no_connection_is_charged_no_attempt(pool: PgPool) {
    const ITEMS: u32 = 4;
    // The most of eight connections that one team gets.
    const SHARE: usize = 4;
    let (receiver, data) = (Receiver::start().await, DataDir::new());
    // The first pictures hold the team's connections until their deadline.
    let pictures = ScriptedServer::start(|_, asked| {
        if asked <= SHARE {
            Act::Hang
        } else {
            Act::head("404 Not Found")
        }
    })
    .await;
    let options = [
        "--webhook-url",
        &receiver.url(),
        "--egress-allow",
        &pictures.allowed(),
        "--outbound-connections",
        "8",
    ];
    let up = start(&pool, &data, FILES, &options).await;
    // The first pictures hold their jobs until their deadline.
    up.leaves_jobs();
    for _ in 0..SHARE {
        let picture = json!({ "content_url": pictures.url("/") });
        up.submit(picture).await;
    }
    eventually("pictures have the team's share", SOON, async || {
        (pictures.asked("/") == SHARE).then_some(())
    })
    .await;
    for _ in 0..ITEMS {
        submit(&up, &up.demo().site_key).await;
    }
    eventually("a delivery gives up waiting", SOON, async || {
        let name = "gatehouse_outbound_waits_total{outcome=\"gave_up\"}";
        let waits = "select count(*) from queue.jobs where queue = 'webhooks' and state = 2 and attempt = 0";
        let waiting: i64 = sqlx::query_scalar(waits).fetch_one(&pool).await.unwrap();
        (metric(&up, name).await >= 1.0 && waiting > 0).then_some(())
    })
    .await;
    let of_texts = "from deliveries d
        join events e on e.id = d.event_id
        join media m on m.id = e.media_id and m.content_type = 'text'";
    eventually("all events", SOON, async || {
        let ended = format!("select count(*) {of_texts} where d.state = 'delivered'");
        let ended: i64 = sqlx::query_scalar(AssertSqlSafe(ended))
            .fetch_one(&pool)
            .await
            .unwrap();
        (ended == i64::from(2 * ITEMS)).then_some(())
    })
    .await;
    let attempts = format!(
        "select a.outcome, count(*) {of_texts}
         join delivery_attempts a on a.delivery_id = d.id
         group by a.outcome"
    );
    let attempts: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(attempts))
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(attempts, [("delivered".to_owned(), i64::from(2 * ITEMS))]);
    let ill = "select count(*) from webhook_endpoint_states where failures > 0";
    let ill: i64 = sqlx::query_scalar(ill).fetch_one(&pool).await.unwrap();
    assert_eq!(ill, 0, "the endpoint did not fail");
}

/// Deliveries that would wait for a connection stay in the queue.
#[sqlx::test(migrations = false)]
async fn case_59_a_slow_receiver_has_no_more_requests_than_its_team_has_connections(pool: PgPool) {
    const ITEMS: u32 = 12;
    let (receiver, data) = (Receiver::start().await, DataDir::new());
    receiver.answer(200, Duration::from_secs(6));
    let options = [
        "--webhook-url",
        &receiver.url(),
        "--outbound-connections",
        "8",
    ];
    let up = start(&pool, &data, FILES, &options).await;
    for _ in 0..ITEMS {
        submit(&up, &up.demo().site_key).await;
    }
    let delivered = async |at_least: i64| {
        let ended = "select count(*) from deliveries where state = 'delivered'";
        let ended: i64 = sqlx::query_scalar(ended).fetch_one(&pool).await.unwrap();
        (ended >= at_least).then_some(())
    };
    eventually("the share is used", SOON, async || {
        (receiver.received().len() >= 4).then_some(())
    })
    .await;
    // On a machine that is too busy, the first are answered by now, and this tells nothing.
    let asked = receiver.received().len();
    assert!(
        asked <= 4 || delivered(1).await.is_some(),
        "{asked} requests are more than the team's share"
    );
    eventually("the first are delivered", SOON, async || delivered(1).await).await;
    receiver.answer(200, Duration::ZERO);
    let all = i64::from(2 * ITEMS);
    eventually("all events", SOON, async || delivered(all).await).await;
    let attempts = "select count(*) from delivery_attempts";
    let attempts: i64 = sqlx::query_scalar(attempts).fetch_one(&pool).await.unwrap();
    assert_eq!(attempts, all);
    let gave_up = "gatehouse_outbound_waits_total{outcome=\"gave_up\"}";
    assert!(
        metric(&up, gave_up).await < 1.0,
        "no delivery held a slot while it waited for a connection"
    );
}
