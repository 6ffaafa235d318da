//! Rule groups in a running service: edited under load, tried in the shadow, replayed by workers
//! that are killed.

mod backtest;
mod editing;
mod shadow;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, SOON, Up, http, text};

const LONG: Duration = Duration::from_mins(2);

/// The management interface with a token.
#[derive(Clone)]
struct Management {
    /// Ends with `/management/v1`.
    base: String,
    token: String,
}

impl Management {
    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let request = http().request(method, format!("{}{path}", self.base));
        let answer = request.bearer_auth(&self.token).json(&body).send().await;
        let answer = answer.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path}: {body}");
        body
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, Value::Null).await
    }

    /// Creates a version with these rules. Returns its id.
    async fn version(&self, group: &str, rules: Value, live: bool) -> String {
        let draft = self.get(&format!("/rule-groups/{group}/draft")).await;
        let change = json!({ "rules": rules, "revision": draft["revision"] });
        let path = format!("/rule-groups/{group}/draft");
        let draft = self.ask(Method::PUT, &path, change).await;
        let new = json!({ "revision": draft["revision"], "live": live });
        let path = format!("/rule-groups/{group}/versions");
        text(&self.ask(Method::POST, &path, new).await, "id")
    }
}

async fn start(pool: &PgPool, data: &DataDir) -> (Up, Management) {
    let url = pool.connect_options().to_url_lossy().to_string();
    let up = Up::start(data, &["--database-url", &url]).await;
    let management = Management {
        base: up.demo().base_url.replace("/functions/", "/management/"),
        token: up.demo().management_token.clone(),
    };
    (up, management)
}

async fn default_group(pool: &PgPool) -> String {
    sqlx::query_scalar("select default_rule_group_id::text from sites")
        .fetch_one(pool)
        .await
        .unwrap()
}

/// A rule with this name that rejects this word.
fn word(name: &str, word: &str) -> Value {
    json!({ "name": name, "type": "keyword", "keywords": [word], "effect": "reject" })
}
