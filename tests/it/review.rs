//! An item that waits for a person: it is submitted, sent to review, decided, and announced.

use serde_json::json;

use crate::support::{DataDir, Receiver, SOON, Up, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_moderators_decision_goes_out_as_a_signed_webhook_and_is_what_the_status_says() {
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let up = Up::start(&data, &["--webhook-url", &receiver.url()]).await;
    let fields =
        json!({ "body": "see review-2024 for the details", "metadata": { "author": "ada" } });
    let media = up.submit(fields).await;
    let verdict = up.verdict(&media).await;
    assert_eq!(verdict["status"], "pending_review");
    // The machine's findings are kept beside the reason.
    let mut details = verdict["moderationResult"].clone();
    assert_ne!(details["rule_violations"], json!([]));
    for only_of_the_machine in ["processing_time_ms", "flagged_categories"] {
        details.as_object_mut().unwrap().remove(only_of_the_machine);
    }
    details["reason"] = json!("An order number, nothing else.");

    let path = format!("/media/{media}/decision");
    let approval = json!({
        "decision": "approve",
        "reason": "An order number, nothing else.",
        "expected_status": "pending_review",
    });
    let (code, decided) = up.manage(&path, &approval).await;
    assert_eq!(
        (code, &decided["status"]),
        (200, &json!("approved")),
        "{decided}"
    );

    let told = eventually("the decision is announced", SOON, async || {
        let mut requests = receiver.received().into_iter();
        requests.find(|request| {
            request.tells("media.moderated", &media)
                && request.json()["data"]["status"] == "approved"
        })
    })
    .await;
    told.assert_signed(&up.demo().webhook_secret);
    let told = told.json();
    assert_eq!(told["timestamp"], decided["moderated_at"]);
    assert_eq!(
        told["data"],
        json!({
            "media_id": media,
            "site_id": up.demo().site_id,
            "status": "approved",
            "previous_status": "pending_review",
            "moderation_type": "manual",
            "moderated_at": decided["moderated_at"],
            "moderation_details": details,
            "metadata": { "author": "ada" },
        })
    );

    let status = up.status(&media).await;
    assert_eq!(
        [
            &status["status"],
            &status["action"],
            &status["moderation_type"]
        ],
        [&json!("approved"), &json!("approve"), &json!("manual")]
    );
    assert_eq!(
        status["moderationResult"],
        told["data"]["moderation_details"]
    );
    assert_eq!(status["moderated_at"], decided["moderated_at"]);

    let (code, refused) = up.manage(&path, &approval).await;
    assert_eq!((code, &refused["code"]), (409, &json!("media_changed")));
}
