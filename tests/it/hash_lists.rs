//! Hash lists in a running service: all workers recognise known images at once, and work on whole
//! lists survives kills.

mod imports;
mod recognition;
mod scans;

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Up, eventually, http};

/// Much longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(2);

impl Up {
    /// A request to the management interface with the demo team's token.
    async fn call(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: String,
    ) -> (u16, Value) {
        let base = self.demo().base_url.replace("/functions/", "/management/");
        let request = http().request(method, format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo().management_token);
        let answer = request.header("Content-Type", media_type).body(body).send();
        let answer = answer.await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Creates something.
    async fn made(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.manage(path, &body).await;
        assert!(matches!(status, 201 | 202), "{path} {status} {made}");
        made
    }

    async fn seen(&self, path: &str) -> Value {
        let (status, seen) = self
            .call(Method::GET, path, "text/plain", String::new())
            .await;
        assert_eq!(status, 200, "{seen}");
        seen
    }

    async fn list(&self, name: &str, kind: &str) -> String {
        let list = self
            .made("/hash-lists", json!({ "name": name, "kind": kind }))
            .await;
        id(&list)
    }

    /// Creates a rule group that rejects images on these lists.
    async fn group(&self, lists: &[&str]) -> String {
        let rule =
            json!({ "name": "Known", "type": "image_hash", "lists": lists, "effect": "reject" });
        let group = json!({ "name": lists.concat(), "rules": [rule] });
        id(&self.made("/rule-groups", group).await)
    }

    /// Submits an image that this group judges.
    async fn submit_image(&self, group: &str, file: &[u8]) -> String {
        let image = BASE64_STANDARD.encode(file);
        self.submit(json!({ "content_base64": image, "rule_group_id": group }))
            .await
    }

    /// Submits an image that this group judges, and waits for the verdict.
    async fn judged(&self, group: &str, file: &[u8]) -> Value {
        let media = self.submit_image(group, file).await;
        self.verdict(&media).await
    }

    async fn until_ended(&self, path: &str) -> Value {
        eventually("an end", PATIENCE, async || {
            let seen = self.seen(path).await;
            (seen["state"] != "running").then_some(seen)
        })
        .await
    }
}

fn id(thing: &Value) -> String {
    thing["id"].as_str().unwrap().to_owned()
}

async fn start(data: &DataDir, pool: &PgPool) -> Up {
    let url = pool.connect_options().to_url_lossy().to_string();
    Up::start(data, &["--database-url", &url, "--lease-seconds", "2"]).await
}
