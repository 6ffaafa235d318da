//! The requests that tests send to a running `gatehouse up`.

use std::time::Duration;

use reqwest::{Response, StatusCode, header::HeaderMap};
use serde_json::Value;

use super::Up;
use crate::support::{SOON, eventually};

impl Up {
    /// Submits these fields with the demo site's key. Returns the item's id.
    ///
    /// # Panics
    /// If the answer is not the documented one for an accepted submission.
    pub(crate) async fn submit(&self, fields: Value) -> String {
        let answer = self.post("submit-media", fields).await;
        assert_eq!(answer["status"], "pending", "{answer}");
        assert!(answer["message"].is_string(), "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    /// The status of an item.
    pub(crate) async fn status(&self, media: &str) -> Value {
        self.post("get-media-status", serde_json::json!({ "media_id": media }))
            .await
    }

    /// The status of an item, as soon as it is decided.
    pub(crate) async fn verdict(&self, media: &str) -> Value {
        eventually("a verdict", SOON, async || {
            let status = self.status(media).await;
            (status["status"] != "pending").then_some(status)
        })
        .await
    }

    /// Submits these fields with another key. Returns the status and the body.
    pub(crate) async fn submit_with(&self, key: &str, mut fields: Value) -> (u16, Value) {
        fields["api_key"] = key.into();
        let url = format!("{}/submit-media", self.demo.base_url);
        let answer = self.http.post(url).json(&fields).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn post(&self, path: &str, mut fields: Value) -> Value {
        fields["api_key"] = self.demo.site_key.as_str().into();
        let url = format!("{}/{path}", self.demo.base_url);
        let answer = self.http.post(url).json(&fields).send().await.unwrap();
        let status = answer.status();
        let body = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// A POST to the management interface, with the demo team's token. Returns the status and the
    /// body.
    pub(crate) async fn manage(&self, path: &str, body: &Value) -> (u16, Value) {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.post(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// A PATCH, likewise.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.patch(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// A GET, likewise.
    pub(crate) async fn look(&self, path: &str) -> (u16, Value) {
        let answer = self.ask(path).await;
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Downloads a file from the management interface, with its headers.
    pub(crate) async fn download(&self, path: &str) -> (HeaderMap, Vec<u8>) {
        let answer = self.ask(path).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let headers = answer.headers().clone();
        (headers, answer.bytes().await.unwrap().into())
    }

    /// A token may ask 600 times a minute. One that has asked so often waits, as it is told.
    async fn ask(&self, path: &str) -> Response {
        loop {
            let answer = self.ask_once(path).await;
            if answer.status() != StatusCode::TOO_MANY_REQUESTS {
                return answer;
            }
            let seconds = answer.headers()["retry-after"].to_str().unwrap();
            tokio::time::sleep(Duration::from_secs(seconds.parse().unwrap())).await;
        }
    }

    /// Like [`Up::look`], but a refusal for too many requests is an answer, too.
    pub(crate) async fn ask_once(&self, path: &str) -> Response {
        let base = self.demo.base_url.replace("/functions/", "/management/");
        let request = self.http.get(format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo.management_token);
        request.send().await.unwrap()
    }
}
