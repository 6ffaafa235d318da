//! Webhooks as their owners see them.

mod deliveries;
mod endpoints;
mod events;
mod pings;
mod secret;

use serde_json::{Value, json};

use super::Caller;
use crate::app::App;

/// Somebody of the team, and where the site's endpoints are.
async fn owner(app: &App) -> (Caller<'_>, String) {
    let endpoints = format!("/sites/{}/webhook-endpoints", app.tenant.site);
    (app.member(app.tenant.team).await, endpoints)
}

/// A new endpoint with nothing special about it, and its path.
async fn endpoint(owner: &Caller<'_>, endpoints: &str) -> (Value, String) {
    let new = json!({ "url": "https://example.com/hook" });
    let endpoint = owner.post(endpoints, new).await.created();
    let path = format!("/webhook-endpoints/{}", endpoint["id"].as_str().unwrap());
    (endpoint, path)
}

impl App {
    async fn run(&self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&self.pool).await.unwrap();
    }

    /// What the audit log tells, and all that could hold a secret, as far as it can be read.
    async fn stored(&self) -> String {
        let rows: Vec<String> = sqlx::query_scalar(
            "select a::text from audit_log a
             union all select encode(headers, 'escape') from webhook_endpoints where headers is not null
             union all select encode(webhook_secret, 'escape') from sites
             union all select encode(next_webhook_secret, 'escape') from sites where next_webhook_secret is not null",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        rows.concat()
    }

    /// The last entries of the audit log, the last one first: action and details.
    async fn audited(&self, caller: &Caller<'_>, entries: usize) -> Vec<(String, Value)> {
        let log = caller
            .get(&format!("/audit-log?limit={entries}"))
            .await
            .ok();
        let data = log["data"].as_array().unwrap().iter();
        data.map(|entry| {
            let action = entry["action"].as_str().unwrap().to_owned();
            (action, entry["details"].clone())
        })
        .collect()
    }
}
