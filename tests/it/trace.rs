//! Traces: from a submission's `traceparent` through the jobs of its item to its webhooks, and to a
//! collector that reads spans with the official definitions.

mod exported;

use std::fs;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{DataDir, Receiver, SOON, Up, eventually, http};

/// The example of the standard.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// A value of `traceparent`.
fn traceparent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-{SPAN}-{flags}")
}

/// Submits these fields with these headers. Returns the item's id.
async fn submit(up: &Up, mut fields: Value, headers: &[(&str, &str)]) -> String {
    fields["api_key"] = up.demo().site_key.as_str().into();
    let url = format!("{}/submit-media", up.demo().base_url);
    let request = headers
        .iter()
        .fold(http().post(url), |request, (name, value)| {
            request.header(*name, *value)
        });
    let answer = request.json(&fields).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    answer["id"].as_str().expect("it is accepted").to_owned()
}

/// The trace of an item, as the management interface shows it.
async fn trace_of(up: &Up, media: &str) -> String {
    let (status, item) = up.look(&format!("/media/{media}")).await;
    assert_eq!(status, 200, "{item}");
    item["trace_id"].as_str().unwrap().to_owned()
}

/// The trace, the span and the flags of both webhooks about an item.
async fn sent(receiver: &Receiver, media: &str) -> [[String; 3]; 2] {
    let mut sent = Vec::new();
    for event in ["media.created", "media.moderated"] {
        let webhook = receiver.event(event, media, SOON).await;
        let value = webhook.header("traceparent").to_owned();
        let parts: Vec<_> = value.split('-').map(str::to_owned).collect();
        let [version, trace, span, flags] = parts.try_into().expect("four parts");
        assert_eq!((version.as_str(), value.len()), ("00", 55));
        sent.push([trace, span, flags]);
    }
    sent.try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callers_trace_reaches_the_webhooks_the_item_the_audit_log_and_the_log() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    let own = traceparent(TRACE, "01");
    let headers = [("traceparent", own.as_str()), ("idempotency-key", "one")];
    let media = submit(&up, json!({ "body": "a fine day" }), &headers).await;

    let [created, moderated] = sent(&receiver, &media).await;
    for [trace, span, flags] in [&created, &moderated] {
        assert_eq!((trace.as_str(), flags.as_str()), (TRACE, "01"));
        assert_ne!(span, SPAN);
    }
    assert_ne!(
        created[1], moderated[1],
        "each request is a step of its own"
    );
    assert_eq!(trace_of(&up, &media).await, TRACE);

    // The same request again, in another trace: the first one stays.
    let other = traceparent(&TRACE.replace('4', "5"), "01");
    let headers = [("traceparent", other.as_str()), ("idempotency-key", "one")];
    let again = submit(&up, json!({ "body": "a fine day" }), &headers).await;
    assert_eq!(again, media);
    assert_eq!(trace_of(&up, &media).await, TRACE);

    // A job that logs something.
    let image = json!({ "content_url": "http://127.0.0.1:1/a.png" });
    let unsampled = traceparent(TRACE, "00");
    let image = submit(&up, image, &[("traceparent", unsampled.as_str())]).await;
    up.verdict(&image).await;
    let log = fs::read_to_string(data.log()).unwrap();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let about: Vec<Value> = lines
        .filter(|line| line["media.id"] == image.as_str())
        .collect();
    assert!(!about.is_empty(), "{log}");
    for line in about {
        assert_eq!(line["trace.id"], TRACE, "{line}");
    }

    // A change of the management interface.
    let base = up.demo().base_url.replace("/functions/", "/management/");
    let url = format!("{base}/sites/{}/keys", up.demo().site_id);
    let request = http()
        .post(url)
        .bearer_auth(&up.demo().management_token)
        .header("traceparent", &own);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    let (_, log) = up.look("/audit-log?limit=1").await;
    assert_eq!(log["data"][0]["trace_id"], TRACE, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_valid_trace_the_item_gives_its_own_id_to_the_trace() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    let zero = format!("00-{}-{SPAN}-01", "0".repeat(32));
    let forbidden = format!("ff-{TRACE}-{SPAN}-01");
    let twice = traceparent(TRACE, "01");
    for headers in [
        &[][..],
        &[("traceparent", "")],
        &[("traceparent", zero.as_str())],
        &[("traceparent", forbidden.as_str())],
        &[
            ("traceparent", twice.as_str()),
            ("traceparent", twice.as_str()),
        ],
    ] {
        let media = submit(&up, json!({ "body": "a fine day" }), headers).await;
        let trace = media.replace('-', "");
        assert_eq!(trace_of(&up, &media).await, trace, "{headers:?}");
        for [sent, _, flags] in sent(&receiver, &media).await {
            assert_eq!((sent, flags.as_str()), (trace.clone(), "00"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_share_a_job_keep_their_own_traces() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    let up = &up;
    let submitting = (1..=40_u128).map(|n| async move {
        let value = traceparent(&format!("{n:032x}"), "01");
        let headers = [("traceparent", value.as_str())];
        let media = submit(up, json!({ "body": "a fine day" }), &headers).await;
        (n, media)
    });
    for (n, media) in join_all(submitting).await {
        for [trace, _, _] in sent(&receiver, &media).await {
            assert_eq!(trace, format!("{n:032x}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_collector_costs_spans_and_nothing_else() {
    let data = DataDir::new();
    // Nobody listens on this port.
    let up = Up::start(&data, &["--otlp-endpoint", "http://127.0.0.1:9"]).await;
    for _ in 0..3 {
        let media = up.submit(json!({ "body": "a fine day" })).await;
        up.verdict(&media).await;
    }
    eventually("dropped spans", SOON, async || {
        let page = http().get(&up.demo().metrics_url).send().await.unwrap();
        let page = page.text().await.unwrap();
        let dropped = page.lines().find_map(|line| {
            line.strip_prefix("gatehouse_spans_dropped_total{reason=\"not_taken\"} ")
        })?;
        (dropped.parse::<f64>().unwrap() > 0.0).then_some(())
    })
    .await;
    assert!(up.stop().success());
    let log = fs::read_to_string(data.log()).unwrap();
    let told = log.matches("takes no spans").count();
    assert_eq!(told, 1, "a change is logged, not each failure");
}
