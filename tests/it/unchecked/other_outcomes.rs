//! Everything else that tells an outcome: the answer to the submission, the status, the event, the management interface,
//! `gatehouse submit`, the export, and a backtest. Pages and statistics have their own tests, in `console/` and `store/`.

use std::{
    fs,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{FINE, UNREAD, moderated, set, threats};
use crate::support::{DataDir, Receiver, SOON, Up, eventually, http, unset};

/// Submits this, and waits in the answer for the verdict.
async fn decided(up: &Up, mut fields: Value) -> Value {
    fields["api_key"] = up.demo().site_key.as_str().into();
    let once = uuid::Uuid::now_v7().to_string();
    // On a busy machine, a verdict may take longer than a wait. So the request is repeated.
    eventually("an answer with the verdict", SOON, async || {
        let request = http()
            .post(format!("{}/submit-media", up.demo().base_url))
            .header("prefer", "wait=10")
            .header("idempotency-key", &once)
            .json(&fields);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let answer: Value = answer.json().await.unwrap();
        (answer["status"] != "pending").then_some(answer)
    })
    .await
}

/// Whether details of a verdict say that something was not checked, in a word and in a sentence.
fn says_so(details: &Value) -> bool {
    let words = details["unchecked"].as_array();
    let reason = details["reason"].as_str().unwrap_or_default();
    let says = words.is_some_and(|words| !words.is_empty());
    assert_eq!(says, reason.contains("Not checked: "), "{details}");
    says
}

/// An item of which nothing was checked, and one with an image that cannot be fetched beside a text that was.
fn unchecked_items() -> [Value; 2] {
    let url = "http://127.0.0.1:9/picture.png";
    [
        json!({ "body": UNREAD }),
        json!({ "body": FINE, "content_url": url }),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn case_91_what_was_not_checked_is_named_to_whoever_asks_or_is_told() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    for (on_failure, status, action) in [
        ("review", "pending_review", "review"),
        ("reject", "rejected", "block"),
        ("approve", "approved", "approve"),
    ] {
        set(&up, json!({ "on_failure": on_failure })).await;
        for item in unchecked_items() {
            let answer = decided(&up, item).await;
            assert_eq!(
                (&answer["status"], &answer["action"]),
                (&json!(status), &json!(action)),
                "{answer}"
            );
            assert!(says_so(&answer["moderationResult"]), "{answer}");
            let media = answer["id"].as_str().unwrap();
            let asked = up.status(media).await;
            assert!(says_so(&asked["moderationResult"]), "{asked}");
            let told = eventually("the event", SOON, async || {
                let mut events = receiver.received().into_iter();
                events.find(|event| event.tells("media.moderated", media))
            });
            let told = told.await.json();
            assert!(says_so(&told["data"]["moderation_details"]), "{told}");
            let (_, listed) = up.look("/media?limit=1").await;
            let listed = &listed["data"][0];
            assert_eq!(
                (&listed["id"], &listed["unchecked"]),
                (&json!(media), &json!(true)),
                "{listed}"
            );
        }
    }
    let answer = decided(&up, json!({ "body": FINE })).await;
    assert_eq!(answer["status"], "approved");
    assert!(!says_so(&answer["moderationResult"]), "{answer}");
    let (_, listed) = up.look("/media?limit=1").await;
    assert_eq!(listed["data"][0]["unchecked"], false, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_91_the_command_that_submits_a_file_ends_with_a_code_of_its_own() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("key"), &up.demo().site_key).unwrap();
    let submit = |texts: &[&str], results: &str| {
        let lines: Vec<String> = texts
            .iter()
            .map(|text| json!({ "body": text }).to_string())
            .collect();
        fs::write(path("texts.ndjson"), lines.join("\n")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        unset(&mut command);
        let command = command
            .args(["submit", "--json", "--url", &up.origin(), "--run", results])
            .arg("--key-file")
            .arg(path("key"))
            .arg("--file")
            .arg(path("texts.ndjson"))
            .arg("--results")
            .arg(path(results))
            .stderr(Stdio::null());
        let output = command.output().unwrap();
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), summary["results"].clone())
    };
    let (code, results) = tokio::task::block_in_place(|| submit(&[FINE], "checked"));
    assert_eq!((code, &results["unchecked"]), (Some(0), &json!(0)));

    set(&up, json!({ "on_failure": "approve" })).await;
    let (code, results) = tokio::task::block_in_place(|| submit(&[FINE, UNREAD], "unchecked"));
    assert_eq!(results["statuses"]["approved"], 2, "{results}");
    assert_eq!((code, &results["unchecked"]), (Some(3), &json!(1)));
    let (code, results) = tokio::task::block_in_place(|| submit(&[FINE, UNREAD], "unchecked"));
    assert_eq!(
        (code, &results["unchecked"]),
        (Some(3), &json!(1)),
        "results that were there count, too"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn case_91_a_backtest_of_the_same_rules_approves_nothing_that_was_not_checked() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    for item in unchecked_items() {
        let answer = decided(&up, item).await;
        assert_eq!(answer["status"], "pending_review", "{answer}");
    }
    let threats = threats();
    let texts: Vec<&str> = threats.values().map(String::as_str).collect();
    moderated(&up, &texts).await;
    decided(&up, json!({ "body": FINE })).await;

    let (_, site) = up.look(&format!("/sites/{}", up.demo().site_id)).await;
    let group = site["default_rule_group_id"].as_str().unwrap();
    let path = format!("/rule-groups/{group}/backtests");
    let (status, started) = up.manage(&path, &json!({ "limit": 100 })).await;
    assert_eq!(status, 202, "{started}");
    let path = format!("/backtests/{}", started["id"].as_str().unwrap());
    let report = eventually("the backtest ends", SOON, async || {
        let (_, report) = up.look(&path).await;
        (report["state"] != "running").then_some(report)
    })
    .await;
    assert_eq!(report["state"], "finished", "{report}");
    assert_eq!(report["judged"], 18, "{report}");
    assert_eq!(report["changed"], 0, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_91_an_export_has_it_with_the_verdict() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    set(&up, json!({ "on_failure": "approve" })).await;
    let answer = decided(&up, json!({ "body": UNREAD })).await;
    assert_eq!(answer["status"], "approved", "{answer}");
    let directory = tempfile::tempdir().unwrap();
    let token = directory.path().join("token");
    fs::write(&token, &up.demo().management_token).unwrap();
    let archive = directory.path().join("export.tar");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    command
        .args([
            "export",
            "--url",
            &up.origin(),
            "--site",
            &up.demo().site_id,
        ])
        .arg("--token-file")
        .arg(&token)
        .arg("--to")
        .arg(&archive);
    let output = tokio::task::block_in_place(|| command.output().unwrap());
    assert!(output.status.success(), "{output:?}");
    let archive = fs::read(archive).unwrap();
    let archive = String::from_utf8_lossy(&archive);
    let item = archive.lines().find(|line| line.contains(UNREAD)).unwrap();
    // The head of the file in the archive may stand before it.
    let item = &item[item.find('{').unwrap()..];
    let item: Value = serde_json::from_str(item).unwrap();
    let verdict = &item["verdicts"][0];
    assert_eq!(verdict["status"], "approved", "{item}");
    assert!(says_so(&verdict["details"]), "{item}");
}
