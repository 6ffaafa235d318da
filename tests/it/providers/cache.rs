//! If a site wants it, a provider gets equal texts of the site only once. Only real answers are
//! used again.

mod retention;
mod reuse;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Panel, SOON, text};

const HOUR: Duration = Duration::from_hours(1);

const MINUTES: Duration = Duration::from_mins(3);

const CALM: &str = "a quiet afternoon";

fn cached() -> Value {
    json!({ "answer_cache_seconds": 3_600 })
}

/// Submits a text and waits for its verdict. Returns the item's id and its status.
async fn moderate(panel: &Panel, key: &str, body: &str) -> (String, Value) {
    let media = panel.submit(key, body).await;
    let verdict = panel.verdict(key, &media, MINUTES).await;
    (media, verdict["status"].clone())
}

/// The path of the site with this name.
async fn site(panel: &Panel, name: &str) -> String {
    let (_, sites) = panel
        .manage(Method::GET, "/sites?limit=100", &Value::Null)
        .await;
    let sites = sites["data"].as_array().unwrap();
    let site = sites.iter().find(|site| site["name"] == name).unwrap();
    format!("/sites/{}", text(site, "id"))
}
