//! Webhooks: those of a real service that sends them to `WEBHOOK_PORT`, and others.

use std::{
    env, fs,
    time::{Duration, SystemTime},
};

use gatehouse_client::{Content, Verdict, WebhookError, WebhookPayload, verify_webhook};
use http::{HeaderMap, HeaderValue, Response};
use serde_json::{Value, json};
use standardwebhooks::{Webhook, WebhookError as Forgery};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::support::{Demo, forbidden, serve, whole};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The headers of a body that was signed so long ago.
fn signed(body: &[u8], ago: Duration) -> HeaderMap {
    let signed_at = SystemTime::now() - ago;
    let since_epoch = signed_at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let timestamp = since_epoch.as_secs();
    let webhook = Webhook::new(SECRET).unwrap();
    let signature = webhook.sign("msg_7", timestamp.try_into().unwrap(), body);
    let value = |text: &str| HeaderValue::from_str(text).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", value("msg_7"));
    headers.insert("webhook-timestamp", value(&timestamp.to_string()));
    headers.insert("webhook-signature", value(&signature.unwrap()));
    headers
}

fn now(body: &Value) -> Result<WebhookPayload, WebhookError> {
    let body = body.to_string();
    verify_webhook(
        body.as_bytes(),
        &signed(body.as_bytes(), Duration::ZERO),
        SECRET,
    )
}

#[tokio::test]
async fn a_webhook_of_the_service_is_genuine_and_a_changed_one_is_not() {
    let demo = Demo::read();
    let (send, mut received) = mpsc::unbounded_channel();
    let port = env::var("WEBHOOK_PORT").unwrap().parse().unwrap();
    serve(port, move |webhook| {
        send.send(webhook).unwrap();
        async { Some(Response::new(whole(""))) }
    })
    .await;
    let wanted = Uuid::new_v4().to_string();
    let content = Content {
        app_media_id: Some(wanted.clone()),
        ..forbidden()
    };
    let verdict = demo.client().moderate(&content).await.unwrap();
    let (event, webhook) = loop {
        let webhook = received.recv().await.unwrap();
        let read = verify_webhook(&webhook.body, &webhook.headers, &demo.webhook_secret);
        match read.unwrap() {
            WebhookPayload::MediaModerated(event)
                if event.data.app_media_id.as_ref() == Some(&wanted) =>
            {
                break (event, webhook);
            }
            WebhookPayload::MediaCreated(_) | WebhookPayload::MediaModerated(_) => {}
            other => panic!("the service does not send {other:?}"),
        }
    };
    assert_eq!(event.data.media_id, verdict.id);
    assert_eq!(event.data.status, Verdict::Rejected);
    assert_eq!(event.data.moderation_details, verdict.moderation_result);

    let body = str::from_utf8(&webhook.body).unwrap();
    let changed = body.replace("rejected", "approved");
    let other_secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let mut forged = webhook.headers.clone();
    forged.insert("webhook-signature", HeaderValue::from_static("v1,AAAA"));
    for (body, headers, secret) in [
        (
            changed.as_str(),
            &webhook.headers,
            demo.webhook_secret.as_str(),
        ),
        (body, &webhook.headers, other_secret),
        (body, &forged, &demo.webhook_secret),
    ] {
        let read = verify_webhook(body.as_bytes(), headers, secret);
        assert!(
            matches!(
                read,
                Err(WebhookError::NotGenuine(Forgery::InvalidSignature))
            ),
            "{read:?}"
        );
    }
}

#[test]
fn an_old_webhook_is_refused() {
    let body = json!({ "event": "media.archived", "data": {} }).to_string();
    let body = body.as_bytes();
    let minutes =
        |minutes: u64| verify_webhook(body, &signed(body, Duration::from_mins(minutes)), SECRET);
    assert!(minutes(4).is_ok());
    let old = minutes(6);
    assert!(
        matches!(
            old,
            Err(WebhookError::NotGenuine(Forgery::TimestampTooOldError))
        ),
        "{old:?}"
    );
    // The time is signed, too.
    let mut renewed = signed(body, Duration::from_mins(6));
    renewed.insert(
        "webhook-timestamp",
        signed(body, Duration::ZERO)["webhook-timestamp"].clone(),
    );
    let renewed = verify_webhook(body, &renewed, SECRET);
    assert!(
        matches!(
            renewed,
            Err(WebhookError::NotGenuine(Forgery::InvalidSignature))
        ),
        "{renewed:?}"
    );
}

#[test]
fn a_webhook_without_a_signature_is_refused() {
    let read = verify_webhook(b"{}", &HeaderMap::new(), SECRET);
    assert!(matches!(
        read,
        Err(WebhookError::NotGenuine(Forgery::MissingHeader(_)))
    ));
}

#[test]
fn every_event_of_the_document_is_known_and_others_are_passed_on() {
    let document = fs::read_to_string("../../openapi/public.json").unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let events = &document["components"]["schemas"]["WebhookPayload"]["discriminator"]["mapping"];
    let events = events.as_object().unwrap();
    assert!(!events.is_empty());
    for event in events.keys() {
        // A known event has members.
        let read = now(&json!({ "event": event }));
        assert!(
            matches!(read, Err(WebhookError::Unreadable(_))),
            "{event}: {read:?}"
        );
    }
    let new = json!({ "event": "media.archived", "data": { "media_id": "7" } });
    assert_eq!(
        now(&new).unwrap(),
        WebhookPayload::Unknown(new.as_object().unwrap().clone())
    );
}
