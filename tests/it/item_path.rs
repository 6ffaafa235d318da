//! The way of an item through the public interface: submitted, decided, announced by signed
//! webhooks, and still there after a restart and after a crash.

use std::time::Duration;

use serde_json::json;

use crate::support::{DataDir, Receiver, SOON, Up, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_ends_in_a_verdict_and_two_signed_webhooks() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;

    let fields = json!({
        "body": "so much blockedword in here",
        "app_media_id": "comment-7",
        "metadata": { "author": "ada" },
    });
    let media = up.submit(fields).await;
    let status = up.verdict(&media).await;
    assert_eq!(status["status"], "rejected", "{status}");
    assert_eq!(status["action"], "block");
    assert_eq!(status["moderation_type"], "rule");
    assert_eq!(status["app_media_id"], "comment-7");
    let violation = &status["moderationResult"]["rule_violations"][0];
    assert_eq!(violation["rule_type"], "keyword", "{status}");
    assert_eq!(violation["matched_text"], "b*********d");

    let created = receiver.event("media.created", &media, SOON).await;
    let moderated = receiver.event("media.moderated", &media, SOON).await;
    for event in [&created, &moderated] {
        event.assert_signed(&up.demo().webhook_secret);
        assert_eq!(event.header("content-type"), "application/json");
        assert_eq!(event.header("user-agent"), "Service-Webhook/1.0");
        let data = &event.json()["data"];
        assert_eq!(data["site_id"], up.demo().site_id.as_str());
        assert_eq!(data["metadata"], json!({ "author": "ada" }));
    }
    assert_eq!(created.json()["data"]["status"], "pending");
    let moderated = moderated.json();
    assert_eq!(moderated["data"]["previous_status"], "pending");
    assert_eq!(
        moderated["data"]["moderation_details"],
        status["moderationResult"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_rules_approve_review_and_reject() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    for (text, expected) in [
        ("a fine day for a walk by the river", "approved"),
        ("see review-2024 for the details", "pending_review"),
        ("this is a b.l.o.c.k.e.d.w.o.r.d", "rejected"),
        // The built-in analyser knows no Chinese, so this has no score.
        ("今天天气很好，我们去公园散步", "pending_review"),
    ] {
        let media = up.submit(json!({ "body": text })).await;
        let status = up.verdict(&media).await;
        assert_eq!(status["status"], expected, "{text}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_and_a_crash_find_everything_as_it_was() {
    let receiver = Receiver::start().await;
    let url = receiver.url();
    // A dead process's jobs go to others when its lease ends.
    let arguments = ["--webhook-url", url.as_str(), "--lease-seconds", "3"];
    let data = DataDir::new();

    let first = Up::start(&data, &arguments).await;
    let key = first.demo().site_key.clone();
    let kept = first.submit(json!({ "body": "a kept text" })).await;
    let verdict = first.verdict(&kept).await;
    assert!(first.stop().success());

    let second = Up::start(&data, &arguments).await;
    assert_eq!(second.demo().site_key, key);
    assert_eq!(second.status(&kept).await, verdict);
    // The receiver fails, so this event is not delivered yet when the process dies.
    receiver.answer(503, Duration::from_millis(50));
    let pending = second
        .submit(json!({ "body": "told after the crash" }))
        .await;
    receiver.event("media.created", &pending, SOON).await;
    second.kill();

    receiver.answer(200, Duration::ZERO);
    let before = receiver.received().len();
    let third = Up::start(&data, &arguments).await;
    assert_eq!(third.status(&kept).await, verdict);
    third.verdict(&pending).await;
    for event in ["media.created", "media.moderated"] {
        eventually(event, SOON, async || {
            let requests = receiver.received();
            requests[before..]
                .iter()
                .any(|request| request.tells(event, &pending))
                .then_some(())
        })
        .await;
    }
}
