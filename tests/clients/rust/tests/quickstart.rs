//! The README's quickstart, and the errors that every application meets, with a client that
//! progenitor generates from openapi/public.json.

use gatehouse_client_rust::{
    Demo,
    public::{Error, types},
};
use serde_json::{Map, json};
use uuid::Uuid;

fn text(text: &str) -> types::SubmitRequestBody {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_submitted_text_is_judged() {
    let demo = Demo::read();
    let metadata = Map::from_iter([("author".to_owned(), json!("u-17"))]);
    let submission = types::SubmitRequest::builder()
        .api_key(&demo.site_key)
        .body(text("what a blockedword"))
        .app_media_id(types::SubmitRequestAppMediaId::try_from("comment-4711").unwrap())
        .metadata(metadata.clone());
    let accepted = demo.client().submit_media().body(submission).send().await;
    let accepted = accepted.unwrap();
    assert_eq!(accepted.status, types::PolledStatus::Pending);

    let media = demo.decided(accepted.id).await;
    assert_eq!(media.status, types::PolledStatus::Rejected);
    assert_eq!(media.action, Some(types::Action::Block));
    assert_eq!(media.app_media_id.as_deref(), Some("comment-4711"));
    assert_eq!(media.metadata, Some(metadata));
    let result = media.moderation_result.unwrap();
    assert_eq!(result.rule_violations[0].rule_type, "keyword");
}

#[tokio::test]
async fn a_status_asked_by_query_is_the_same() {
    let demo = Demo::read();
    let media = demo.decided(demo.submit("a kind word").await).await;
    let client = demo.client();
    let asked = client
        .get_media_status_by_query()
        .api_key(&demo.site_key)
        .media_id(media.media_id);
    let asked = asked.send().await.unwrap().into_inner();
    assert_eq!(json!(asked), json!(media));
}

#[tokio::test]
async fn a_repeated_submission_is_stored_once() {
    let demo = Demo::read();
    let (client, key) = (demo.client(), Uuid::new_v4().to_string());
    let send = async |content: &str| {
        let submission = types::SubmitRequest::builder()
            .api_key(&demo.site_key)
            .body(text(content));
        let request = client.submit_media().idempotency_key(key.as_str());
        request.body(submission).send().await
    };
    let first = send("once").await.unwrap();
    assert_eq!(send("once").await.unwrap().id, first.id);
    let Err(Error::ErrorResponse(problem)) = send("something else").await else {
        panic!("no problem");
    };
    assert_eq!(problem.code, "idempotency_conflict");
}

#[tokio::test]
async fn a_wrong_key_is_told_by_its_code() {
    let demo = Demo::read();
    let submission = types::SubmitRequest::builder()
        .api_key("site_wrong")
        .body(text("hello"));
    let answer = demo.client().submit_media().body(submission).send().await;
    let Err(Error::ErrorResponse(problem)) = answer else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 401);
    assert_eq!(problem.code, "invalid_api_key");
    let header = &problem.headers()["x-request-id"];
    assert_eq!(header, problem.request_id.as_str());
}

#[tokio::test]
async fn a_wrong_member_is_told_by_its_name() {
    let demo = Demo::read();
    let submission = types::SubmitRequest::builder()
        .api_key(&demo.site_key)
        .body(text("hello"))
        .rule_group_id(Uuid::from_u128(7));
    let answer = demo.client().submit_media().body(submission).send().await;
    let Err(Error::ErrorResponse(problem)) = answer else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 400);
    assert_eq!(problem.code, "unknown_rule_group");
    let problem = problem.into_inner();
    assert_eq!(problem.errors[0].field, "rule_group_id");
}
