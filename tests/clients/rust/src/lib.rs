//! The clients that `build.rs` generated, and what the tests share.

use std::{env, fs, time::Duration};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::Deserialize;
use uuid::Uuid;

use public::{
    Client, Error,
    types::{MediaStatus, PolledStatus, Problem, StatusRequest, SubmitRequest, SubmitRequestBody},
};

/// What applications call.
pub mod public {
    include!(concat!(env!("OUT_DIR"), "/public.rs"));
}

/// What operators and moderators call.
pub mod management {
    include!(concat!(env!("OUT_DIR"), "/management.rs"));
}

/// The demo site of `gatehouse up`, as demo.json tells it.
#[derive(Deserialize)]
pub struct Demo {
    pub base_url: String,
    pub site_id: Uuid,
    pub rule_group_id: Uuid,
    pub site_key: String,
    pub management_token: String,
}

impl Demo {
    pub fn read() -> Self {
        let path = env::var("GATEHOUSE_DEMO").expect("run by `make test-clients`");
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    pub fn client(&self) -> Client {
        Client::new(&self.base_url)
    }

    pub fn management(&self) -> management::Client {
        self.management_with(&self.management_token)
    }

    pub fn management_with(&self, token: &str) -> management::Client {
        let token = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, token)]);
        let http = reqwest::Client::builder().default_headers(headers).build();
        let url = self.base_url.replace("/functions/v1", "/management/v1");
        management::Client::new_with_client(&url, http.unwrap())
    }

    pub async fn submit(&self, text: &str) -> Uuid {
        let text = text.parse().expect("a short text");
        let submitted = submit(&self.client(), &self.site_key, &text).await;
        submitted.unwrap()
    }

    pub async fn decided(&self, media: Uuid) -> MediaStatus {
        let client = self.client();
        for _ in 0..300 {
            let request = StatusRequest::builder()
                .api_key(&self.site_key)
                .media_id(media);
            let media = client.get_media_status().body(request).send().await;
            let media = media.unwrap().into_inner();
            if media.status != PolledStatus::Pending {
                return media;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{media} is still pending");
    }
}

/// Submits a text, and again when that makes sense; it is stored once.
pub async fn submit(
    client: &Client,
    site_key: &str,
    text: &SubmitRequestBody,
) -> Result<Uuid, Error<Problem>> {
    let key = Uuid::new_v4().to_string();
    let mut tries = 1;
    loop {
        let submission = SubmitRequest::builder()
            .api_key(site_key)
            .body(text.clone());
        let request = client.submit_media().idempotency_key(key.as_str());
        match request.body(submission).send().await {
            Ok(accepted) => return Ok(accepted.id),
            Err(error) if error.is_retryable() && tries < 5 => {
                tokio::time::sleep(pause(&error)).await;
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// How long to wait before the next try.
fn pause(error: &Error<Problem>) -> Duration {
    let seconds = match error {
        Error::ErrorResponse(problem) => problem.headers().get(RETRY_AFTER),
        _ => None,
    };
    let seconds = seconds.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}
