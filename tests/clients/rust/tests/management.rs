//! A moderator's and an operator's work, with a client that progenitor generates from
//! openapi/management.json.

use std::{collections::HashSet, num::NonZeroU64};

use gatehouse_client_rust::{
    Demo,
    management::{Error, types},
    public,
};
use uuid::Uuid;

#[tokio::test]
async fn what_waits_for_a_moderator_is_found_and_decided() {
    let demo = Demo::read();
    let media = demo.submit("about review-2024").await;
    let status = demo.decided(media).await.status;
    assert_eq!(status, public::types::PolledStatus::PendingReview);

    let client = demo.management();
    let (mut waiting, mut cursor) = (Vec::new(), None);
    loop {
        let mut request = client
            .list_media()
            .site_id(demo.site_id)
            .status(types::Status::PendingReview)
            .limit(NonZeroU64::MIN);
        if let Some(cursor) = cursor {
            request = request.cursor::<String>(cursor);
        }
        let part = request.send().await.unwrap().into_inner();
        waiting.extend(part.data.into_iter().map(|media| media.id));
        cursor = part.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(waiting.contains(&media));
    assert_eq!(waiting.iter().collect::<HashSet<_>>().len(), waiting.len());

    let decide = async || {
        let decision = types::NewDecision::builder()
            .decision(types::Decision::Approve)
            .reason("harmless");
        let request = client.decide_media().media_id(media).body(decision);
        request.send().await
    };
    let decided = decide().await.unwrap();
    assert_eq!(decided.status, types::Status::Approved);
    let before = types::Status::PendingReview;
    assert_eq!(decided.previous_status, before);
    let status = demo.decided(media).await;
    assert_eq!(
        status.moderation_type,
        Some(public::types::ModerationType::Manual)
    );

    let Err(Error::ErrorResponse(problem)) = decide().await else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 409);
    assert_eq!(problem.code, "already_decided");
}

#[tokio::test]
async fn a_new_sites_limit_is_told_with_the_time_to_wait() {
    let demo = Demo::read();
    let (management, client) = (demo.management(), demo.client());
    let site = types::NewSite::builder()
        .name(format!("Rust {}", Uuid::new_v4()))
        .default_rule_group_id(demo.rule_group_id)
        .submissions_per_minute(NonZeroU64::MIN);
    let site = management.create_site().body(site).send().await.unwrap();
    let key = management.create_site_key().site_id(site.id);
    let key = key.send().await.unwrap();

    // Three within a minute, or within two minutes at their border.
    let mut refused = Vec::new();
    for _ in 0..3 {
        let submission = public::types::SubmitRequest::builder()
            .api_key(&key.secret)
            .body(public::types::SubmitRequestBody::try_from("hello").unwrap());
        let answer = client.submit_media().body(submission).send().await;
        if let Err(public::Error::ErrorResponse(problem)) = answer {
            refused.push(problem);
        }
    }
    let problem = refused.first().expect("a refusal");
    assert_eq!(problem.status(), 429);
    assert_eq!(problem.code, "rate_limited");
    let seconds = problem.headers()["retry-after"].to_str().unwrap();
    assert!(seconds.parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn a_wrong_token_is_told_by_its_code() {
    let client = Demo::read().management_with("mgmt_wrong");
    let Err(Error::ErrorResponse(problem)) = client.list_media().send().await else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 401);
    assert_eq!(problem.code, "invalid_token");
}

#[tokio::test]
async fn a_wrong_member_is_told_by_its_name() {
    let client = Demo::read().management();
    let answer = client.list_media().cursor("nonsense").send().await;
    let Err(Error::ErrorResponse(problem)) = answer else {
        panic!("no problem");
    };
    assert_eq!(problem.code, "invalid_request");
    assert_eq!(problem.into_inner().errors[0].field, "cursor");
}
