//! Decisions of moderators.

use std::time::Duration;

use domain::{event::EventKind, media::Status};
use serde_json::json;
use sqlx::{PgPool, postgres::PgListener};
use store::endpoint;

use super::{super::document::assert_answers, approval};
use crate::app::{App, STATUS};

#[sqlx::test(migrations = false)]
async fn a_moderator_decides_after_the_machine_and_overturns_only_what_was_seen(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let media = app.submitted("a").await;
    let path = format!("/media/{media}/decision");
    let decide = async |decision: &str, expected: Option<&str>| {
        let mut body = json!({ "decision": decision, "reason": "Because." });
        if let Some(expected) = expected {
            body["expected_status"] = expected.into();
        }
        member.post(&path, body).await
    };

    for expected in [None, Some("pending"), Some("pending_review")] {
        decide("approve", expected)
            .await
            .problem(409, "still_pending");
    }
    app.judge(&media, Status::PendingReview).await;
    decide("approve", Some("rejected"))
        .await
        .problem(409, "media_changed");
    let decided = decide("approve", Some("pending_review")).await.ok();
    assert_answers("POST", "/media/{media_id}/decision", &decided);
    assert_eq!(
        [
            &decided["status"],
            &decided["previous_status"],
            &decided["verdict"]
        ],
        [&json!("approved"), &json!("pending_review"), &json!(2)]
    );
    decide("approve", None)
        .await
        .problem(409, "already_decided");
    decide("reject", Some("pending_review"))
        .await
        .problem(409, "media_changed");
    let overturned = decide("reject", Some("approved")).await.ok();
    assert_eq!(overturned["previous_status"], "approved");

    let status = app
        .post_keyed(STATUS, json!({ "media_id": media }))
        .await
        .ok();
    assert_eq!(
        [
            &status["status"],
            &status["action"],
            &status["moderation_type"]
        ],
        [&json!("rejected"), &json!("block"), &json!("manual")]
    );
    assert_eq!(
        status["moderationResult"],
        json!({ "rule_violations": [], "reason": "Because." })
    );
    assert_eq!(status["moderated_at"], overturned["moderated_at"]);
    let log = member.get("/audit-log?action=media.decide").await;
    assert!(!log.body.contains("Because."));
    let log = log.ok();
    assert_eq!(log["data"].as_array().unwrap().len(), 2);
    assert_eq!(log["data"][0]["target_id"], media);
    assert_eq!(
        log["data"][0]["details"],
        json!({ "changed": { "status": { "from": "approved", "to": "rejected" } }, "verdict": 3 })
    );
}

#[sqlx::test(migrations = false)]
async fn the_workers_are_told_of_a_decision_as_soon_as_it_is_committed(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let mut conn = app.pool.acquire().await.unwrap();
    let (site, verdicts) = (app.tenant.site, [EventKind::MediaModerated]);
    endpoint::create(&mut conn, site, "https://example.com/", &verdicts)
        .await
        .unwrap();
    let media = app.in_review("a").await;
    let mut listener = PgListener::connect_with(&app.pool).await.unwrap();
    listener.listen("queue_wake").await.unwrap();
    let (path, body) = approval(&media);
    member.post(&path, body).await.ok();
    // Workers may still be told of the submission, too.
    let told = async {
        while !listener
            .recv()
            .await
            .unwrap()
            .payload()
            .contains("webhooks")
        {}
    };
    tokio::time::timeout(Duration::from_mins(1), told)
        .await
        .expect("the workers of the webhooks are told");
}

#[sqlx::test(migrations = false)]
async fn of_two_decisions_at_once_one_is_taken_and_the_other_is_told(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let media = app.in_review("a").await;
    let path = format!("/media/{media}/decision");
    // Both have seen the item, and wait for it.
    let mut held = app.pool.begin().await.unwrap();
    sqlx::query("select from media for update")
        .execute(&mut *held)
        .await
        .unwrap();
    let decide = |decision: &'static str| {
        member.post(&path, json!({ "decision": decision, "reason": "Because." }))
    };
    let release = async {
        app.until_waiting(2).await;
        held.rollback().await.unwrap();
    };
    let (approved, rejected, ()) = tokio::join!(decide("approve"), decide("reject"), release);
    let (taken, refused, status) = if approved.status == 200 {
        (approved, rejected, "approved")
    } else {
        (rejected, approved, "rejected")
    };
    assert_eq!(taken.ok()["status"], status);
    refused.problem(409, "media_changed");
    let item = member.get(&format!("/media/{media}")).await.ok();
    assert_eq!(item["status"], status);
    assert_eq!(item["verdicts"].as_array().unwrap().len(), 2);
    assert_eq!(
        app.count("select count(*) from audit_log where action = 'media.decide'")
            .await,
        1
    );
}

#[sqlx::test(migrations = false)]
async fn a_decision_about_another_verdict_than_the_present_one_is_refused_and_says_which_it_is(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let media = app.submitted("a").await;
    let path = format!("/media/{media}/decision");
    let decide = async |decision: &str, verdict: i64| {
        let body =
            json!({ "decision": decision, "reason": "Because.", "expected_verdict": verdict });
        member.post(&path, body).await
    };
    let number = async || {
        let item = member.get(&format!("/media/{media}")).await.ok();
        assert_answers("GET", "/media/{media_id}", &item);
        let listed = member.get("/media").await.ok();
        assert_eq!(listed["data"][0]["verdict"], item["verdict"]);
        item["verdict"].as_i64()
    };
    assert_eq!(number().await, None);
    decide("approve", 1).await.problem(409, "still_pending");
    app.judge(&media, Status::PendingReview).await;
    assert_eq!(number().await, Some(1));
    decide("approve", 2).await.problem(409, "verdict_changed");
    decide("approve", 1).await.ok();

    // Somebody who still sees the review, and somebody who would decide the same.
    for decision in ["reject", "approve"] {
        let refused = decide(decision, 1).await;
        let detail = refused.problem(409, "verdict_changed")["detail"].clone();
        let detail = detail.as_str().unwrap();
        assert!(
            detail.contains("number 2") && detail.contains("approved"),
            "{detail}"
        );
    }
    // Overturned twice: the status is the one that was seen, the verdict is not.
    decide("reject", 2).await.ok();
    decide("approve", 3).await.ok();
    let both = json!({
        "decision": "reject", "reason": "Because.", "expected_status": "approved", "expected_verdict": 2,
    });
    member
        .post(&path, both)
        .await
        .problem(409, "verdict_changed");
    assert_eq!(number().await, Some(4));
    assert_eq!(app.count("select count(*) from verdicts").await, 4);
    assert_eq!(
        app.count("select count(*) from audit_log where action = 'media.decide'")
            .await,
        3
    );
}

#[sqlx::test(migrations = false)]
async fn of_two_people_who_saw_the_same_verdict_and_decide_at_once_one_is_refused(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let media = app.in_review("a").await;
    let path = format!("/media/{media}/decision");
    let mut held = app.pool.begin().await.unwrap();
    sqlx::query("select from media for update")
        .execute(&mut *held)
        .await
        .unwrap();
    // The same decision: without the number, the second person could think it was the own one.
    let approval = json!({ "decision": "approve", "reason": "Because.", "expected_verdict": 1 });
    let release = async {
        app.until_waiting(2).await;
        held.rollback().await.unwrap();
    };
    let (first, second, ()) = tokio::join!(
        member.post(&path, approval.clone()),
        member.post(&path, approval.clone()),
        release
    );
    let (taken, refused) = if first.status == 200 {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(taken.ok()["verdict"], 2);
    let refused = refused.problem(409, "verdict_changed");
    assert!(refused["detail"].as_str().unwrap().contains("number 2"));
    assert_eq!(app.count("select count(*) from verdicts").await, 2);
    assert_eq!(app.count("select count(*) from events").await, 3);
}

#[sqlx::test(migrations = false)]
async fn a_decision_that_says_too_little_or_too_much_decides_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let media = app.in_review("a").await;
    let path = format!("/media/{media}/decision");
    let long = "a".repeat(1_001);
    for (member_at_fault, body) in [
        ("decision", json!({ "reason": "a" })),
        ("decision", json!({ "decision": "review", "reason": "a" })),
        ("decision", json!({ "decision": null, "reason": "a" })),
        ("reason", json!({ "decision": "approve" })),
        ("reason", json!({ "decision": "approve", "reason": " \n" })),
        ("reason", json!({ "decision": "approve", "reason": "a\0" })),
        ("reason", json!({ "decision": "approve", "reason": long })),
        ("reason", json!({ "decision": "approve", "reason": 1 })),
        (
            "expected_status",
            json!({ "decision": "approve", "reason": "a", "expected_status": "done" }),
        ),
        (
            "expected_status",
            json!({ "decision": "approve", "reason": "a", "expected_status": null }),
        ),
        (
            "expected_verdict",
            json!({ "decision": "approve", "reason": "a", "expected_verdict": 0 }),
        ),
        (
            "expected_verdict",
            json!({ "decision": "approve", "reason": "a", "expected_verdict": 32_768 }),
        ),
        (
            "expected_verdict",
            json!({ "decision": "approve", "reason": "a", "expected_verdict": "1" }),
        ),
        (
            "expected_verdict",
            json!({ "decision": "approve", "reason": "a", "expected_verdict": null }),
        ),
        (
            "status",
            json!({ "decision": "approve", "reason": "a", "status": "x" }),
        ),
    ] {
        let answer = member.post(&path, body).await;
        answer.blames("invalid_request", &[member_at_fault]);
    }
    assert_eq!(app.count("select count(*) from verdicts").await, 1);
}
