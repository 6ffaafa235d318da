//! A secret that is rotated while deliveries are retried. Until the grace period ends, both secrets
//! verify them. After that, only the new secret does.

use std::{fs, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use domain::signature::{WebhookSecret, verify_service, verify_standard};
use sqlx::PgPool;
use store::{encryption::MasterKey, site};

use super::Service;
use crate::support::{Received, SOON, eventually};

fn verifies(request: &Received, header: &str, secret: &WebhookSecret) -> bool {
    let signature = request.headers.get(header);
    signature.is_some_and(|signature| {
        verify_service(secret, signature.to_str().unwrap(), &request.body).is_ok()
    })
}

fn verifies_standard(request: &Received, secret: &WebhookSecret) -> bool {
    let timestamp = request.header("webhook-timestamp");
    let signed = timestamp.parse().unwrap();
    let signature = request.header("webhook-signature");
    let id = request.header("webhook-id");
    verify_standard(secret, id, timestamp, signature, &request.body, signed).is_ok()
}

async fn rotate(service: &Service, activate_in: Option<Duration>) -> WebhookSecret {
    let key = fs::read_to_string(service.data.path().join("master.key")).unwrap();
    let key = BASE64.decode(key.trim()).unwrap();
    let key = MasterKey::new(key.try_into().unwrap());
    let site = service.up.demo().site_id.parse().unwrap();
    let mut conn = service.pool.acquire().await.unwrap();
    let activate_at = activate_in.map(|wait| chrono::Utc::now() + wait);
    let rotated = site::webhook_secret::rotate(&mut conn, &key, site, activate_at).await;
    rotated.unwrap().unwrap().secret
}

#[sqlx::test(migrations = false)]
async fn case_17_both_secrets_verify_until_the_grace_ends_and_then_only_the_new_one(pool: PgPool) {
    let service = Service::start(pool).await;
    let old: WebhookSecret = service.up.demo().webhook_secret.parse().unwrap();
    let last_of = |requests: Vec<Received>, media: &str| {
        let tells = |request: &Received| request.tells("media.created", media);
        requests.into_iter().rev().find(tells)
    };

    service.receiver.answer(500, Duration::ZERO);
    let media = service.submit().await;
    let first = service.receiver.event("media.created", &media, SOON).await;
    assert!(verifies(&first, "x-service-signature", &old));
    assert!(!first.headers.contains_key("x-service-signature-previous"));

    // A secret that will sign later does not sign yet, and a newer one replaces it.
    let later = rotate(&service, Some(Duration::from_hours(1))).await;
    let new = rotate(&service, None).await;
    service.receiver.answer(200, Duration::ZERO);
    let retried = eventually("the retry", SOON, async || {
        let last = last_of(service.receiver.received(), &media)?;
        last.headers
            .contains_key("x-service-signature-previous")
            .then_some(last)
    })
    .await;
    assert_eq!(
        retried.header("x-service-delivery-id"),
        first.header("x-service-delivery-id")
    );
    assert!(verifies(&retried, "x-service-signature", &new));
    assert!(verifies(&retried, "x-service-signature-previous", &old));
    assert!(verifies_standard(&retried, &new) && verifies_standard(&retried, &old));
    assert!(!verifies(&retried, "x-service-signature", &later));
    assert!(!verifies_standard(&retried, &later));

    service
        .run("update sites set next_webhook_secret_at = now() - interval '24 hours'")
        .await;
    let media = service.submit().await;
    let after = service.receiver.event("media.created", &media, SOON).await;
    assert!(verifies(&after, "x-service-signature", &new));
    assert!(verifies_standard(&after, &new) && !verifies_standard(&after, &old));
    assert!(!after.headers.contains_key("x-service-signature-previous"));

    // The last two of three secrets sign.
    let newest = rotate(&service, None).await;
    let media = service.submit().await;
    let last = service.receiver.event("media.created", &media, SOON).await;
    assert!(verifies(&last, "x-service-signature", &newest));
    assert!(verifies(&last, "x-service-signature-previous", &new));
    assert!(!verifies_standard(&last, &old));
}
