//! The exact bytes that are sent, and what receivers conclude from them if they follow
//! `docs/webhooks.md`.

#[expect(unreachable_pub, reason = "as the document shows it")]
#[path = "../../receivers/rust/by_hand.rs"]
mod by_hand;
#[expect(unreachable_pub, reason = "as the document shows it")]
#[path = "../../receivers/rust/library.rs"]
mod library;

use std::{collections::BTreeMap, fs};

use chrono::Utc;
use hyper::HeaderMap;
use serde_json::{Value, json};
use sqlx::PgPool;
use standardwebhooks::Webhook;

use super::{Endpoints, Service};
use crate::support::{Act, SOON, ScriptedServer, eventually};

fn vectors(name: &str) -> Vec<Value> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let file = fs::read(format!("{directory}/{name}.json")).unwrap();
    let mut file: Value = serde_json::from_slice(&file).unwrap();
    serde_json::from_value(file["vectors"].take()).unwrap()
}

fn headers(vector: &Value) -> HeaderMap {
    let headers = vector["headers"].as_object().unwrap();
    headers
        .iter()
        .map(|(name, value)| {
            let value = value.as_str().unwrap();
            (name.parse().unwrap(), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn case_16_the_document_shows_the_code_that_is_tested() {
    let root = env!("CARGO_MANIFEST_DIR");
    let document = fs::read_to_string(format!("{root}/docs/webhooks.md")).unwrap();
    for name in ["library", "by_hand"] {
        let code = fs::read_to_string(format!("{root}/tests/receivers/rust/{name}.rs")).unwrap();
        assert!(
            document.contains(&format!("```rust\n{code}```\n")),
            "docs/webhooks.md and tests/receivers/rust/{name}.rs differ"
        );
    }
}

#[test]
fn case_16_receivers_conclude_what_the_vectors_say() {
    for vector in [vectors("sent"), vectors("forged")].concat() {
        let body = vector["body"].as_str().unwrap().as_bytes();
        let (headers, secret) = (headers(&vector), vector["secret"].as_str().unwrap());
        assert_eq!(
            by_hand::is_genuine(body, &headers, secret),
            vector["expected"]["service"] == "valid",
            "{}",
            vector["name"]
        );
        // The library uses the machine's clock, so it refuses every old signature.
        assert!(library::verify(body, &headers, secret).is_err());
        let Some(signed_with) = vector["signed_with"].as_array() else {
            continue;
        };
        let text = |name: &str| headers[name].to_str().unwrap();
        let by_library = signed_with.iter().map(|secret| {
            let webhook = Webhook::new(secret.as_str().unwrap()).unwrap();
            let signed = text("webhook-timestamp").parse().unwrap();
            webhook.sign(text("webhook-id"), signed, body).unwrap()
        });
        let by_library = by_library.collect::<Vec<_>>().join(" ");
        assert_eq!(text("webhook-signature"), by_library, "{}", vector["name"]);
    }
}

#[sqlx::test(migrations = false)]
async fn case_16_the_official_library_and_the_documents_code_verify_what_a_service_sends(
    pool: PgPool,
) {
    let service = Service::start(pool).await;
    let secret = service.up.demo().webhook_secret.clone();
    for fields in [
        json!({ "body": "a fine day" }),
        json!({ "body": "what a blockedword", "metadata": { "text": "naïve ✓ 🙂 \u{2028}" } }),
    ] {
        let media = service.up.submit(fields).await;
        for event in ["media.created", "media.moderated"] {
            let request = service.receiver.event(event, &media, SOON).await;
            let (body, headers) = (&request.body, &request.headers);
            library::verify(body, headers, &secret).unwrap();
            assert!(by_hand::is_genuine(body, headers, &secret));
            let forged = [body, &b" "[..]].concat();
            assert!(library::verify(&forged, headers, &secret).is_err());
            assert!(!by_hand::is_genuine(&forged, headers, &secret));
        }
    }
}

#[sqlx::test(migrations = false)]
async fn case_16_a_request_is_to_the_byte_what_the_document_says(pool: PgPool) {
    const METADATA: &str =
        r#"{"z":1.50,"a":1e2,"text":"naïve \u00e9 ✓","big":12345678901234567890123, "list":[ ]}"#;
    let server = ScriptedServer::start(|_, _| Act::head("200 OK")).await;
    let service = Endpoints::start(pool, &server, &["/hooks/moderation?from=test"]).await;
    let body = format!(
        r#"{{"api_key":"{}","body":"what a blockedword","app_media_id":"comment-4711","metadata":{METADATA}}}"#,
        service.site.key
    );
    let submitted = service
        .api
        .http
        .post(format!("{}/submit-media", service.api.base_url))
        .header("Content-Type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap();
    let media = submitted.json::<Value>().await.unwrap()["id"].clone();
    let media = media.as_str().unwrap();
    let requests = eventually("both events", SOON, async || {
        let requests = server.requests("/hooks/moderation?from=test");
        (requests.len() == 2).then_some(requests)
    })
    .await;
    let site = &service.site.id;
    for request in requests {
        let request = String::from_utf8(request).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        assert_eq!(
            lines.next(),
            Some("POST /hooks/moderation?from=test HTTP/1.1")
        );
        let lines: Vec<(&str, &str)> = lines.map(|line| line.split_once(": ").unwrap()).collect();
        let headers: BTreeMap<&str, &str> = lines.iter().copied().collect();
        assert_eq!(headers.len(), lines.len(), "a header is repeated");
        let event: Value = serde_json::from_str(body).unwrap();
        let (name, at) = (&event["event"], event["timestamp"].as_str().unwrap());
        let ids =
            format!(r#""media_id":"{media}","app_media_id":"comment-4711","site_id":"{site}""#);
        let expected = if name == "media.created" {
            format!(
                r#"{{"event":"media.created","timestamp":"{at}","data":{{{ids},"status":"pending","content_type":"text","created_at":"{at}","metadata":{METADATA}}}}}"#
            )
        } else {
            let details = &body[body.find(r#""moderation_details":"#).unwrap()..];
            assert!(
                details.ends_with(&format!(r#","metadata":{METADATA}}}}}"#)),
                "{body}"
            );
            format!(
                r#"{{"event":"media.moderated","timestamp":"{at}","data":{{{ids},"status":"rejected","previous_status":"pending","moderation_type":"rule","moderated_at":"{at}",{details}"#
            )
        };
        assert_eq!(body, expected);
        // 2023-11-14T22:13:20.000001Z
        assert!(at.len() == 27 && at.ends_with('Z'), "{at}");

        let names: Vec<&str> = headers.keys().copied().collect();
        assert_eq!(
            names,
            [
                "accept",
                "content-length",
                "content-type",
                "host",
                "traceparent",
                "user-agent",
                "webhook-id",
                "webhook-signature",
                "webhook-timestamp",
                "x-service-delivery-id",
                "x-service-event",
                "x-service-signature"
            ]
        );
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["user-agent"], "Service-Webhook/1.0");
        assert_eq!(headers["x-service-event"], name);
        assert_eq!(headers["content-length"], body.len().to_string());
        let signed: i64 = headers["webhook-timestamp"].parse().unwrap();
        assert!((Utc::now().timestamp() - signed).abs() < 120);
        for id in ["webhook-id", "x-service-delivery-id"] {
            headers[id].parse::<uuid::Uuid>().unwrap();
        }
        let webhook = Webhook::new(&service.site.webhook_secret).unwrap();
        let signature = webhook.sign(headers["webhook-id"], signed, body.as_bytes());
        assert_eq!(headers["webhook-signature"], signature.unwrap());
    }
}
