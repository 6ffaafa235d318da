//! The README's quickstart, and the errors that every client meets, with a client that progenitor generates from
//! openapi/public.json.

use std::{env, fs, time::Duration};

use gatehouse_client_rust::{Client, Error, types};
use serde_json::{Map, Value, json};
use uuid::Uuid;

struct Site {
    client: Client,
    key: String,
}

impl Site {
    fn demo() -> Self {
        let path = env::var("GATEHOUSE_DEMO").expect("run by `make test-clients`");
        let demo: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Self {
            client: Client::new(demo["base_url"].as_str().unwrap()),
            key: demo["site_key"].as_str().unwrap().to_owned(),
        }
    }

    fn text(&self, text: &str) -> types::SubmitRequest {
        types::SubmitRequest {
            api_key: self.key.clone(),
            body: Some(text.parse().unwrap()),
            app_media_id: None,
            content_base64: None,
            content_url: None,
            metadata: Default::default(),
            rule_group_id: None,
        }
    }

    async fn decided(&self, media_id: Uuid) -> types::MediaStatus {
        let request = types::StatusRequest {
            api_key: self.key.clone(),
            media_id,
        };
        for _ in 0..300 {
            let media = self.client.get_media_status(&request).await.unwrap();
            if media.status != types::MediaStatusStatus::Pending {
                return media.into_inner();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{media_id} is still pending");
    }
}

#[tokio::test]
async fn a_submitted_text_is_judged() {
    let site = Site::demo();
    let mut submission = site.text("what a blockedword");
    submission.app_media_id = Some("comment-4711".parse().unwrap());
    submission.metadata = Some(Map::from_iter([("author".to_owned(), json!("u-17"))]));
    let accepted = site.client.submit_media(&submission).await.unwrap();
    assert_eq!(accepted.status, types::AcceptedStatus::Pending);

    let media = site.decided(accepted.id).await;
    assert_eq!(media.status, types::MediaStatusStatus::Rejected);
    assert_eq!(media.action.as_deref(), Some("block"));
    assert_eq!(media.app_media_id.as_deref(), Some("comment-4711"));
    assert_eq!(media.metadata, submission.metadata);
    let result = media.moderation_result.unwrap();
    assert_eq!(result.rule_violations[0].rule_type, "keyword");
}

#[tokio::test]
async fn a_status_asked_by_query_is_the_same() {
    let site = Site::demo();
    let accepted = site
        .client
        .submit_media(&site.text("a kind word"))
        .await
        .unwrap();
    let media = site.decided(accepted.id).await;
    let asked = site
        .client
        .get_media_status_by_query(&site.key, &accepted.id)
        .await
        .unwrap();
    assert_eq!(json!(asked.into_inner()), json!(media));
}

#[tokio::test]
async fn a_wrong_key_is_told_by_its_code() {
    let site = Site {
        key: "site_wrong".to_owned(),
        ..Site::demo()
    };
    let Err(Error::ErrorResponse(problem)) = site.client.submit_media(&site.text("hello")).await
    else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 401);
    assert_eq!(problem.code, "invalid_api_key");
    assert_eq!(
        problem.headers()["x-request-id"],
        problem.request_id.as_str()
    );
}

#[tokio::test]
async fn a_wrong_member_is_told_by_its_name() {
    let site = Site::demo();
    let mut submission = site.text("hello");
    submission.rule_group_id = Some(Uuid::from_u128(7));
    let Err(Error::ErrorResponse(problem)) = site.client.submit_media(&submission).await else {
        panic!("no problem");
    };
    assert_eq!(problem.status(), 400);
    assert_eq!(problem.code, "unknown_rule_group");
    assert_eq!(problem.errors[0].field, "rule_group_id");
}
