//! The management interface of one version.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{Api, SOON, Site, eventually, text};

/// The management interface of one version, with a token.
pub(super) struct Interface<'a> {
    pub(super) http: Client,
    pub(super) base: String,
    pub(super) token: &'a str,
}

impl Interface<'_> {
    async fn send(&self, method: Method, path: &str, media_type: &str, body: String) -> Value {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.header("Content-Type", media_type);
        let answer = request.bearer_auth(self.token).body(body).send();
        let answer = answer.await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        assert!(status.is_success(), "{path}: {status} {body}");
        body
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let body = body.to_string();
        self.send(method, path, "application/json", body).await
    }

    /// Creates one of everything that records its creator.
    pub(super) async fn make_everything(&self, api: &Api, team: &str, site: &Site, name: &str) {
        let post = async |path: &str, body: Value| self.ask(Method::POST, path, body).await;
        let rule =
            json!({ "name": "n", "type": "keyword", "keywords": ["maybe"], "effect": "review" });
        let group = json!({ "name": name, "team_id": team, "rules": [rule] });
        let group = text(&post("/rule-groups", group).await, "id");
        let draft = format!("/rule-groups/{group}/draft");
        let now = self.ask(Method::GET, &draft, Value::Null).await;
        let change = json!({ "rules": [rule, rule], "revision": now["revision"] });
        let draft = self.ask(Method::PUT, &draft, change).await;
        let version = json!({ "revision": draft["revision"] });
        post(&format!("/rule-groups/{group}/versions"), version).await;

        let fields = json!({ "api_key": site.key, "body": "maybe", "rule_group_id": group });
        let (status, submitted) = api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{submitted}");
        let media = format!("/media/{}", text(&submitted, "id"));
        eventually("a verdict", SOON, async || {
            let item = self.ask(Method::GET, &media, Value::Null).await;
            (item["status"] == "pending_review").then_some(())
        })
        .await;
        let decision = json!({ "decision": "approve", "reason": "It is fine." });
        let decided = post(&format!("{media}/decision"), decision).await;
        assert_eq!(decided["status"], "approved");

        let backtest = json!({ "since": "2026-01-01T00:00:00Z" });
        let backtests = format!("/rule-groups/{group}/backtests");
        let backtest = format!(
            "/backtests/{}",
            text(&post(&backtests, backtest).await, "id")
        );
        // A team can have only one at a time.
        eventually("the end of a backtest", SOON, async || {
            let backtest = self.ask(Method::GET, &backtest, Value::Null).await;
            (backtest["state"] == "finished").then_some(())
        })
        .await;
        let endpoint = json!({ "url": "https://example.com/" });
        let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
        let endpoint = text(&post(&endpoints, endpoint).await, "id");
        let hour = chrono::Utc::now() - chrono::TimeDelta::hours(1);
        let recovery = json!({ "kind": "failed", "since": hour.to_rfc3339() });
        post(
            &format!("/webhook-endpoints/{endpoint}/recoveries"),
            recovery,
        )
        .await;
        let list = json!({ "name": name, "kind": "deny", "team_id": team });
        let list = format!(
            "/hash-lists/{}",
            text(&post("/hash-lists", list).await, "id")
        );
        let hashes = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
        let imports = format!("{list}/imports?algorithm=sha256");
        self.send(Method::POST, &imports, "text/plain", hashes.into())
            .await;
        post(&format!("{list}/scans"), json!({})).await;

        let child = json!({ "name": name, "team_id": team, "scopes": ["media:read"] });
        let child = text(&post("/tokens", child).await, "id");
        let children = format!("/tokens/{child}");
        self.ask(Method::DELETE, &children, Value::Null).await;
    }
}
