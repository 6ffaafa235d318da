//! What owners do with their endpoints, through the whole service: tests arrive as real events do, moved endpoints get what
//! waited, and what had ended is sent again.

use std::time::Duration;

use domain::signature::{WebhookSecret, sign_service, verify_service};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::Service;
use crate::support::{Api, Received, Receiver, admin, eventually, new_site, text};

const SOON: Duration = Duration::from_secs(30);

/// The body without its last member, as it was signed.
fn unsigned(ping: &Received) -> Vec<u8> {
    let mut body = ping.json();
    let members = body.as_object_mut().unwrap();
    let (last, _) = members.iter().next_back().unwrap();
    assert_eq!(last, "_service_signature");
    members.shift_remove("_service_signature");
    serde_json::to_vec(&body).unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_test_carries_what_real_events_carry_and_tells_what_came_of_it(pool: PgPool) {
    let service = Service::start(pool).await;
    let old = service.up.demo().webhook_secret.clone();
    let site = &service.up.demo().site_id;
    let endpoints = format!("/sites/{site}/webhook-endpoints");
    let new = json!({
        "url": format!("{}hook", service.receiver.url()),
        "headers": [{ "name": "X-Gateway", "value": "open sesame" }],
    });
    let (status, endpoint) = service.up.manage(&endpoints, &new).await;
    assert_eq!(status, 201, "{endpoint}");
    let path = format!("/webhook-endpoints/{}", text(&endpoint, "id"));
    let ping = async || service.up.manage(&format!("{path}/ping"), &json!({})).await;

    service.receiver.say("thank you");
    let (status, told) = ping().await;
    assert_eq!(status, 200, "{told}");
    assert_eq!(
        (
            &told["outcome"],
            &told["status_code"],
            &told["response_body"]
        ),
        (&json!("delivered"), &json!(200), &json!("thank you"))
    );
    let got = service.receiver.received().pop().unwrap();
    got.assert_signed(&old);
    assert_eq!(got.header("x-service-event"), "webhook.test.ping");
    assert_eq!(got.header("x-gateway"), "open sesame");
    assert_eq!(got.header("user-agent"), "Service-Webhook/1.0");
    assert!(
        got.header("x-service-delivery-id")
            .parse::<uuid::Uuid>()
            .is_ok()
    );
    let body = got.json();
    assert_eq!(body["data"]["site_id"], site.as_str());
    assert_eq!(body["data"]["test"], true);
    let secret: WebhookSecret = old.parse().unwrap();
    assert_eq!(
        body["_service_signature"],
        sign_service(&secret, &unsigned(&got))
    );

    // While a rotation's grace lasts, the secret before it signs, too.
    let rotate = format!("/sites/{site}/webhook-secret/rotate");
    let (_, rotated) = service.up.manage(&rotate, &json!({})).await;
    let new: WebhookSecret = text(&rotated, "secret").parse().unwrap();
    service.receiver.answer(302, Duration::ZERO);
    let (_, told) = ping().await;
    assert_eq!(
        (&told["outcome"], &told["status_code"]),
        (&json!("status"), &json!(302))
    );
    let got = service.receiver.received().pop().unwrap();
    got.assert_signed(new.expose());
    let previous = got.header("x-service-signature-previous");
    verify_service(&secret, previous, &got.body).unwrap();
    assert_eq!(
        got.json()["_service_signature"],
        sign_service(&new, &unsigned(&got))
    );

    // Nobody listens there any more; nothing of that is held against it.
    let Service {
        up, pool, receiver, ..
    } = service;
    drop(receiver);
    let (_, told) = up.manage(&format!("{path}/ping"), &json!({})).await;
    // Its connection may not have been seen to end.
    assert!(
        ["connect", "protocol"].contains(&told["outcome"].as_str().unwrap()),
        "{told}"
    );
    assert_eq!(told["status_code"], Value::Null);
    assert!(
        told["error"].as_str().unwrap().contains("connection"),
        "{told}"
    );
    for table in [
        "select count(*) from webhook_endpoint_states",
        "select count(*) from deliveries",
    ] {
        let rows: i64 = sqlx::query_scalar(table).fetch_one(&pool).await.unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

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
    // As after ten failures: it is paused, and deliveries would wait for long.
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

#[sqlx::test(migrations = false)]
async fn the_interface_judges_endpoints_by_the_operators_rules(pool: PgPool) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "t", "--scopes", "all"]);
    let receiver = Receiver::start().await;
    let ask = async |api: &Api, path: &str, body: Value| {
        let base = api.base_url.replace("/functions/", "/management/");
        let request = api.http.post(format!("{base}{path}")).json(&body);
        let request = request.bearer_auth(text(&token, "management_token"));
        let answer = request.send().await.unwrap();
        (
            answer.status().as_u16(),
            answer.json::<Value>().await.unwrap(),
        )
    };
    let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
    let (closed, open) = (
        Api::start(&pool).await,
        Api::with(&pool, &["--egress-allow", &receiver.host()]).await,
    );
    for (url, advice) in [
        (receiver.url(), "ask the operator"),
        ("http://[::ffff:10.0.0.1]/".to_owned(), "use a public one"),
        ("ftp://example.com/".to_owned(), "https://"),
        ("https://a:b@example.com/".to_owned(), "in a header"),
        ("https://example.com:25/".to_owned(), "443"),
        ("http://localhost/".to_owned(), "use a public one"),
    ] {
        let (status, problem) = ask(&closed, &endpoints, json!({ "url": url })).await;
        assert_eq!(status, 400, "{url}: {problem}");
        assert_eq!(problem["errors"][0]["field"], "url");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(advice), "{url}: {message}");
    }
    let (status, endpoint) = ask(&open, &endpoints, json!({ "url": receiver.url() })).await;
    assert_eq!(status, 201, "{endpoint}");
    let ping = format!("/webhook-endpoints/{}/ping", text(&endpoint, "id"));
    let (_, told) = ask(&open, &ping, json!({})).await;
    assert_eq!(told["outcome"], "delivered", "{told}");
    receiver.received()[0].assert_signed(&site.webhook_secret);
    // What another process let in, or a name that leads elsewhere now, is refused when it is contacted.
    let (_, told) = ask(&closed, &ping, json!({})).await;
    assert_eq!(
        (&told["outcome"], receiver.received().len()),
        (&json!("refused"), 1)
    );
}
