//! Tests of an endpoint: they arrive like real events.

use std::time::Duration;

use domain::signature::{WebhookSecret, sign_service, verify_service};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::super::Service;
use crate::support::{Received, text};

/// The signed part of the body: all members but the last.
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

    // During the grace period of a rotation, the previous secret signs, too.
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

    // The receiver is gone. A failed test does not count against the endpoint.
    let Service {
        up, pool, receiver, ..
    } = service;
    drop(receiver);
    let (_, told) = up.manage(&format!("{path}/ping"), &json!({})).await;
    // The service may not know yet that the connection has ended.
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
