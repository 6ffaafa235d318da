//! Verdicts and refusals of a real service.

use std::time::Duration;

use gatehouse_client::{Accepted, Action, Content, Error, Gatehouse, PolledStatus, Refused};
use uuid::Uuid;

use crate::support::{Demo, forbidden};

fn refused(answer: Result<Accepted, Error>) -> Refused {
    match answer {
        Err(Error::Refused(refused)) => refused,
        other => panic!("it is not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_verdict_comes_in_the_answer() {
    let gatehouse = Demo::read().client();
    let verdict = gatehouse.moderate(&forbidden()).await.unwrap();
    assert_eq!(verdict.status, PolledStatus::Rejected);
    assert_eq!(verdict.action, Some(Action::Block));
    let result = verdict.moderation_result.unwrap();
    assert_eq!(result.rule_violations[0].rule_type, "keyword");
    let status = gatehouse.status(verdict.id).await.unwrap();
    assert_eq!(status.app_media_id.as_deref(), Some("comment-4711"));
    assert_eq!(status.moderation_result, Some(result));
}

#[tokio::test]
async fn a_submission_does_not_wait_unless_it_is_asked_to() {
    let gatehouse = Demo::read().client();
    let content = Content {
        body: Some("a fine day".to_owned()),
        ..Content::default()
    };
    let submitted = gatehouse.submit(&content).await.unwrap();
    assert_eq!(submitted.status, PolledStatus::Pending);
    assert_eq!(submitted.moderation_result, None);
    let waited = gatehouse.submit(&content).wait(Duration::from_secs(10));
    assert_eq!(waited.await.unwrap().status, PolledStatus::Approved);
}

#[tokio::test]
async fn the_same_key_stores_one_item() {
    let gatehouse = Demo::read().client();
    let (content, key) = (forbidden(), Uuid::new_v4().to_string());
    let first = gatehouse.submit(&content).idempotency_key(&key).await;
    let second = gatehouse.moderate(&content).idempotency_key(&key).await;
    let second = second.unwrap();
    assert_eq!(second.id, first.unwrap().id);
    assert_eq!(second.status, PolledStatus::Rejected);
    let changed = Content {
        body: Some("something else".to_owned()),
        ..Content::default()
    };
    let conflict = refused(gatehouse.submit(&changed).idempotency_key(&key).await);
    assert_eq!(conflict.code, "idempotency_conflict");
}

#[tokio::test]
async fn a_refusal_says_why() {
    let demo = Demo::read();
    let wrong = Gatehouse::new(demo.url(), &format!("site_{}", "x".repeat(43))).unwrap();
    let refusal = refused(wrong.submit(&forbidden()).await);
    assert_eq!(
        (refusal.status, refusal.code.as_str()),
        (401, "invalid_api_key")
    );
    assert!(refusal.request_id.is_some_and(|id| !id.is_empty()));

    let gatehouse = demo.client();
    let empty = refused(gatehouse.moderate(&Content::default()).await);
    assert_eq!(empty.code, "empty_submission");
    let content = Content {
        rule_group_id: Some(Uuid::from_u128(7)),
        ..forbidden()
    };
    let unknown = refused(gatehouse.submit(&content).await);
    assert_eq!(unknown.code, "unknown_rule_group");
    assert_eq!(unknown.errors[0].field, "rule_group_id");
    let Err(Error::Refused(missing)) = gatehouse.status(Uuid::from_u128(7)).await else {
        panic!("there is no such item");
    };
    assert_eq!(missing.code, "media_not_found");
}

#[test]
fn the_key_is_not_in_what_is_printed_for_debugging() {
    let gatehouse = Gatehouse::new("http://127.0.0.1", "site_secret").unwrap();
    let content = Content::default();
    let printed = format!("{gatehouse:?} {:?}", gatehouse.moderate(&content));
    assert!(printed.contains("http://127.0.0.1"), "{printed}");
    assert!(!printed.contains("site_secret"), "{printed}");
}
