//! The requests that tests send to a panel.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Panel;
use crate::support::{SOON, Worker, eventually, http, text};

impl Panel {
    /// Creates a site that prefers these providers, as soon as workers have announced them. Returns
    /// its key.
    pub(crate) async fn site(&self, name: &str, mut settings: Value) -> String {
        settings["name"] = name.into();
        settings["team_id"] = self.team.as_str().into();
        settings["default_rule_group_id"] = self.group.as_str().into();
        let site = eventually("the site's providers are known", SOON, async || {
            let (status, site) = self.manage(Method::POST, "/sites", &settings).await;
            assert!(matches!(status, 201 | 400), "{status} {site}");
            (status == 201).then_some(site)
        })
        .await;
        let keys = format!("/sites/{}/keys", text(&site, "id"));
        let (status, key) = self.manage(Method::POST, &keys, &json!({})).await;
        assert_eq!(status, 201, "{key}");
        text(&key, "secret")
    }

    /// A request to the management interface. Returns the status and the body.
    pub(crate) async fn manage(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("http://{}/management/v1{path}", self.api.address);
        let mut request = self.api.http.request(method.clone(), url);
        if method != Method::GET {
            request = request.json(body);
        }
        let answer = request.bearer_auth(&self.token).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Submits a text with this key. Returns the item's id.
    pub(crate) async fn submit(&self, key: &str, body: &str) -> String {
        self.submit_fields(key, json!({ "body": body })).await
    }

    /// Submits an image with this key, with or without a text. Returns the item's id.
    pub(crate) async fn submit_image(&self, key: &str, file: &[u8], body: Option<&str>) -> String {
        let file = STANDARD.encode(file);
        self.submit_fields(key, json!({ "body": body, "content_base64": file }))
            .await
    }

    async fn submit_fields(&self, key: &str, mut fields: Value) -> String {
        fields["api_key"] = key.into();
        let (status, answer) = self.api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        text(&answer, "id")
    }

    /// The status of an item.
    pub(crate) async fn status(&self, key: &str, media: &str) -> Value {
        let fields = json!({ "api_key": key, "media_id": media });
        let asked = self.api.post("get-media-status", None, &fields).await;
        let (status, answer) = asked.unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// The status of an item, as soon as it is decided.
    pub(crate) async fn verdict(&self, key: &str, media: &str, within: Duration) -> Value {
        eventually("a verdict", within, async || {
            // The number of a key's requests per minute is limited.
            sleep(Duration::from_millis(50)).await;
            let status = self.status(key, media).await;
            (status["status"] != "pending").then_some(status)
        })
        .await
    }

    /// What the providers said about an item.
    pub(crate) async fn analysis(&self, media: &str) -> Value {
        let path = format!("/media/{media}");
        let (_, item) = self.manage(Method::GET, &path, &Value::Null).await;
        item["analyses"][0].clone()
    }

    /// The value of a worker's metric, if the worker has it.
    pub(crate) async fn metric(worker: &Worker, series: &str) -> Option<f64> {
        let page = http().get(&worker.metrics_url).send().await.unwrap();
        let page = page.text().await.unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(series))?;
        line.trim().parse().ok()
    }
}
