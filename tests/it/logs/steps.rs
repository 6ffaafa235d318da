//! From an item's id, a person finds every step of the item in the logs of all processes.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Logs, message, rules};
use crate::support::{Api, MASTER_KEY, Receiver, SOON, Worker, admin, eventually, new_site};

const TEXT: &str = "a sentence that stands in no other place";
const METADATA: &str = "a-metadatum-of-its-own";
const URL: &str = "a-secret-part-of-the-address";
/// The messages, and the queue or the event that a line tells of, in order.
const STEPS: [(&str, &str); 4] = [
    ("accepted an item", ""),
    ("a step of an item ended", "analysis"),
    ("an item is judged", ""),
    ("an attempt of a delivery ended", "media.moderated"),
];
/// Comes at any time after the first of them.
const ASIDE: (&str, &str) = ("an attempt of a delivery ended", "media.created");

/// What tells one line of a step from another.
fn kind(line: &Value) -> String {
    let fields = ["queue", "event"];
    let words = fields.into_iter().filter_map(|field| line[field].as_str());
    words.collect()
}

/// Submits a text while everything is logged, and returns the lines of the item's trace. Those of each process are in their
/// order, and those of the interface come first: it may log only after the worker has begun.
async fn steps(pool: &PgPool, filter: &str, traceparent: Option<&str>) -> (Vec<Value>, String) {
    let site = new_site(pool);
    let receiver = Receiver::start().await;
    let url = format!("{}{URL}", receiver.url());
    let egress = receiver.host();
    admin(
        pool,
        &[
            "create-endpoint",
            "--site",
            &site.id,
            "--url",
            &url,
            "--egress-allow",
            &egress,
        ],
    );
    let logs = Logs::new();
    let group = rules(pool, &logs).await;
    let command = |process: &str| {
        let mut command = logs.command(pool, process);
        command.env("GATEHOUSE_LOG", filter);
        command
    };
    let mut worker = command("worker");
    worker.env("GATEHOUSE_EGRESS_ALLOW", &egress);
    let api = Api::launch(command("api"), &[]).await;
    let worker = Worker::launch(worker).await;
    let mut request = api.http.post(format!("{}/submit-media", api.base_url));
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let body = json!({
        "api_key": site.key, "body": TEXT, "metadata": { "a": METADATA }, "rule_group_id": group
    });
    let answer = request.json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let media = answer["id"].as_str().unwrap().to_owned();
    let lines = || [logs.lines("api"), logs.lines("worker")].concat();
    let of_trace = || {
        let lines = lines();
        let of_item = |line: &&Value| line["media.id"].as_str() == Some(&media);
        let trace = lines.iter().find(of_item)?["trace.id"].clone();
        let of_trace = lines.into_iter().filter(|line| line["trace.id"] == trace);
        Some(of_trace.collect::<Vec<Value>>())
    };
    let found = eventually("both deliveries are logged", SOON, async || {
        let found = of_trace()?;
        let has = |step| {
            let is_step = |line: &Value| (message(line), kind(line).as_str()) == step;
            found.iter().any(is_step)
        };
        (has(STEPS[3]) && has(ASIDE)).then_some(found)
    })
    .await;
    drop(worker);
    let all: Vec<String> = lines().iter().map(ToString::to_string).collect();
    let all = all.join("\n");
    for secret in [
        TEXT,
        METADATA,
        URL,
        &site.key,
        &site.webhook_secret,
        MASTER_KEY,
    ] {
        assert!(!all.contains(secret), "{secret} is logged");
    }
    (found, media)
}

fn assert_in_order(lines: &[Value]) {
    let found: Vec<(&str, String)> = lines
        .iter()
        .map(|line| (message(line), kind(line)))
        .filter(|(message, kind)| STEPS.contains(&(message, kind)))
        .collect();
    let expected: Vec<(&str, String)> = STEPS
        .iter()
        .map(|(message, kind)| (*message, (*kind).to_owned()))
        .collect();
    assert_eq!(found, expected, "{lines:#?}");
}

#[sqlx::test(migrations = false)]
async fn every_step_of_an_item_is_found_from_its_id(pool: PgPool) {
    let filter = "info,api=debug,workers=debug,queue=debug,store=debug,http_server=debug,sqlx=warn,apalis_core=warn";
    let (lines, media) = steps(&pool, filter, None).await;
    assert_in_order(&lines);
    for line in &lines {
        assert_eq!(line["trace.id"], media.replace('-', ""), "{line}");
        let is_step = STEPS.iter().any(|(step, _)| *step == message(line));
        assert!(!is_step || line["media.id"] == media, "{line}");
    }
    let attempt = lines.iter().find(|line| !line["event"].is_null()).unwrap();
    assert_eq!(attempt["outcome"], "delivered", "{attempt}");
    assert_eq!(attempt["code"], 200, "{attempt}");
}

#[sqlx::test(migrations = false)]
async fn an_item_of_a_callers_trace_is_found_too_whatever_else_is_logged(pool: PgPool) {
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let (lines, _) = steps(&pool, "debug", Some(traceparent)).await;
    assert_in_order(&lines);
    assert_eq!(lines[0]["trace.id"], "0af7651916cd43dd8448eb211c80319c");
}
