//! An endpoint that moves gets what waited for it. What has ended can be sent again.

use std::time::Duration;

use serde_json::json;
use sqlx::PgPool;

use super::{super::Service, SOON};
use crate::support::{eventually, text};

#[sqlx::test(migrations = false)]
async fn an_endpoint_that_moves_gets_at_once_what_waited_for_it_and_what_ended_can_be_sent_again(
    pool: PgPool,
) {
    let service = Service::start(pool).await;
    service.receiver.answer(500, Duration::ZERO);
    let media = service.submit().await;
    service.up.verdict(&media).await;
    eventually("both were attempted", SOON, async || {
        let attempted = "select count(*) from deliveries where attempts > 0";
        (service.count(attempted).await == 2).then_some(())
    })
    .await;
    // The state after ten failures: the endpoint is paused, and deliveries would wait for minutes.
    service
        .run(
            "with failing as (
                 update webhook_endpoint_states
                 set failures = 10, openings = 6, open_until = now() + interval '5 minutes'
                 returning endpoint_id, open_until
             ),
             due as (update queue.jobs set state = 0, run_at = now() where queue = 'webhooks')
             insert into queue.lanes (queue, lane, paused_until)
             select 'webhooks', endpoint_id, open_until from failing",
        )
        .await;
    service.receiver.answer(200, Duration::ZERO);
    let before = service.receiver.received().len();
    let endpoint: uuid::Uuid = sqlx::query_scalar("select id from webhook_endpoints")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    let elsewhere = json!({ "url": format!("{}elsewhere", service.receiver.url()) });
    let path = format!("/webhook-endpoints/{endpoint}");
    let (status, moved) = service.up.patch(&path, &elsewhere).await;
    assert_eq!((status, &moved["breaker"]), (200, &json!("closed")));
    eventually("both are delivered", SOON, async || {
        let delivered = "select count(*) from deliveries where state = 'delivered'";
        (service.count(delivered).await == 2).then_some(())
    })
    .await;
    assert_eq!(service.receiver.received().len(), before + 2);

    let deliveries = format!("/sites/{}/deliveries", service.up.demo().site_id);
    let (_, list) = service
        .up
        .look(&format!("{deliveries}?media_id={media}"))
        .await;
    let created = list["data"].as_array().unwrap().iter();
    let created = created
        .filter(|delivery| delivery["event"] == "media.created")
        .map(|delivery| text(delivery, "id"))
        .next()
        .unwrap();
    let item = format!("/deliveries/{created}");
    let (_, before) = service.up.look(&item).await;
    assert_eq!(before["log"][0]["outcome"], "delivered");
    assert_eq!(before["log"][0]["url"], elsewhere["url"]);
    let (status, _) = service
        .up
        .manage(&format!("{item}/resend"), &json!({}))
        .await;
    assert_eq!(status, 202);
    let after = eventually("it is delivered again", SOON, async || {
        let (_, after) = service.up.look(&item).await;
        let again = before["attempts"].as_i64().unwrap() + 1;
        (after["state"] == "delivered" && after["attempts"] == again).then_some(after)
    })
    .await;
    let got = service.receiver.received().pop().unwrap();
    assert_eq!(got.header("x-service-delivery-id"), created);
    assert_eq!(got.header("webhook-id"), after["event_id"]);
    assert_eq!(got.body, text(&after["request"], "body").into_bytes());
    assert_eq!(after["log"][0]["number"], after["attempts"]);
}
