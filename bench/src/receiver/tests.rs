//! What the receiver takes and what it refuses.

use std::time::SystemTime;

use bytes::Bytes;
use domain::{
    event::EventKind,
    signature::{SignatureHeaders, SigningSecrets},
};
use hyper::HeaderMap;
use uuid::Uuid;

use super::{arrivals::Arrival, read::read, *};

const BODY: &str = r#"{"event":"media.created","data":{"media_id":"00000000-0000-0000-0000-000000000001","status":"pending"}}"#;

fn signed(secret: &WebhookSecret) -> HeaderMap {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
        .cast_signed();
    let secrets = SigningSecrets {
        current: secret.clone(),
        previous: None,
    };
    let signature = SignatureHeaders::sign(&secrets, Uuid::nil().into(), now, BODY.as_bytes());
    let mut headers = HeaderMap::new();
    for (name, value) in signature.iter() {
        headers.insert(
            name.parse::<hyper::header::HeaderName>().unwrap(),
            value.parse().unwrap(),
        );
    }
    headers.insert("x-service-event", "media.created".parse().unwrap());
    headers.insert(
        "x-service-delivery-id",
        Uuid::nil().to_string().parse().unwrap(),
    );
    headers
}

fn shared(secret: WebhookSecret) -> Shared {
    Shared {
        slow: Mutex::default(),
        manners: Manners::default(),
        secrets: Mutex::new(vec![secret]),
        random: Mutex::new(StdRng::seed_from_u64(0)),
        seen: Mutex::default(),
    }
}

#[test]
fn a_webhook_is_taken_only_with_both_signatures_intact() {
    let secret = WebhookSecret::from_random([7; 32]);
    let shared = shared(secret.clone());
    let body = Bytes::from_static(BODY.as_bytes());
    let ((media, kind), _) = read(&shared, "/0", &signed(&secret), &body).unwrap();
    assert_eq!((media, kind), (Uuid::from_u128(1), EventKind::MediaCreated));

    let changed = Bytes::from(BODY.replace("pending", "rejected"));
    assert!(read(&shared, "/0", &signed(&secret), &changed).is_err());
    assert!(
        read(&shared, "/1", &signed(&secret), &body).is_err(),
        "no such site"
    );
    for name in ["x-service-signature", "webhook-signature"] {
        let mut headers = signed(&WebhookSecret::from_random([8; 32]));
        let right = signed(&secret);
        headers.insert(name, right[name].clone());
        assert!(
            read(&shared, "/0", &headers, &body).is_err(),
            "only {name} is right"
        );
    }
}

#[test]
fn a_repetition_must_be_the_same_delivery() {
    let secret = WebhookSecret::from_random([7; 32]);
    let shared = shared(secret.clone());
    let body = Bytes::from_static(BODY.as_bytes());
    let (key, arrival) = read(&shared, "/0", &signed(&secret), &body).unwrap();
    let mut seen = Arrivals::default();
    seen.take(key, arrival);
    seen.take(key, arrival);
    assert_eq!((seen.by_event[&key].times, seen.complaints), (2, 0));
    seen.take(
        key,
        Arrival {
            delivery: Uuid::from_u128(9),
            ..arrival
        },
    );
    assert_eq!(seen.complaints, 1);
}
