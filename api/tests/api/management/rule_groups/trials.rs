//! Rules that are tried: on a sample, in the shadow, over what was judged before.

use std::sync::Arc;

use domain::{
    decision::Unchecked,
    id::{GroupVersionId, MediaId},
    media::{Modality, ModerationType, Status},
    score::{Category, Scores},
};
use management::Analysed;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{item_progress::Progress, rule_group::shadow::Shadowed, verdict::Concluded};

use super::word;
use crate::{
    app::{App, Options},
    management::document::assert_answers,
};

const INTERNAL: &str = "connect to 10.0.0.7 refused";

#[sqlx::test(migrations = false)]
async fn a_sample_is_judged_with_every_detail_and_nothing_of_it_is_kept(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let rules = json!([
        word("Blocked", "blockedword"),
        { "name": "Violence", "type": "ai_threshold", "category": "violence", "review_at": 0.5, "reject_at": 0.9 },
    ]);
    let group = member.new_group("House", rules).await;
    let path = format!("/rule-groups/{group}/test");
    let rows = "select (select count(*) from media) + (select count(*) from events) + (select count(*) from audit_log)
                     + (select count(*) from queue.jobs) + (select count(*) from analyses)";
    let before = app.count(rows).await;
    let text = "ü so much b.l.o.c.k.e.d.w.o.r.d here";
    let sample = json!({ "text": text, "scores": { "violence": 0.6 } });
    let result = member.post(&path, sample).await.ok();
    assert_answers("POST", "/rule-groups/{rule_group_id}/test", &result);
    assert_eq!(result["status"], "rejected");
    assert_eq!(result["moderation_type"], "rule");
    let draft = member.draft(&group).await;
    let start = text.find("b.l").unwrap();
    assert_eq!(
        result["matches"],
        json!([
            {
                "rule_id": draft["rules"][0]["id"],
                "rule_name": "Blocked",
                "rule_type": "keyword",
                "effect": "reject",
                "matched_text": "b.l.o.c.k.e.d.w.o.r.d",
                "view": "loose",
                "starts_at": start,
                "ends_at": start + "b.l.o.c.k.e.d.w.o.r.d".len(),
                "category": null,
                "score": null,
                "threshold": null,
            },
            {
                "rule_id": draft["rules"][1]["id"],
                "rule_name": "Violence",
                "rule_type": "ai_threshold",
                "effect": "review",
                "matched_text": null,
                "view": null,
                "starts_at": null,
                "ends_at": null,
                "category": "violence",
                "score": 0.6,
                "threshold": 0.5,
            },
        ])
    );
    assert_eq!(result["scores_from"], "request");
    assert_eq!(result["trace"]["evidence"].as_array().unwrap().len(), 2);
    let masked = &result["details"]["rule_violations"][0]["matched_text"];
    assert_eq!(*masked, "b*******************d");

    // No scores, and nobody to ask: the rule that asks for them is told.
    let result = member.post(&path, json!({ "text": "fine" })).await.ok();
    assert_eq!(result["scores"], Value::Null);
    assert_eq!(result["scores_from"], "nowhere");
    assert_eq!(result["unscored"], json!(["violence"]));
    // Scores alone, too.
    let scores = json!({ "scores": { "violence": 0.95 } });
    assert_eq!(member.post(&path, scores).await.ok()["status"], "rejected");

    assert_eq!(app.count(rows).await, before);
    for (sample, code, field) in [
        (json!({}), "empty_submission", "text"),
        (json!({ "text": "" }), "empty_submission", "text"),
        (
            json!({ "text": "x".repeat(102_401) }),
            "text_too_large",
            "text",
        ),
        (
            json!({ "scores": { "violence": 1.5 } }),
            "invalid_request",
            "scores",
        ),
        (
            json!({ "scores": { "gore": 0.5 } }),
            "invalid_request",
            "scores",
        ),
        (
            json!({ "text": "a", "version_id": uuid::Uuid::now_v7() }),
            "invalid_request",
            "version_id",
        ),
    ] {
        let refused = member.post(&path, sample).await;
        refused.blames(code, &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_sample_is_judged_by_the_draft_a_version_or_the_rules_of_the_request(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member
        .new_group("House", json!([word("live", "live")]))
        .await;
    let path = format!("/rule-groups/{group}");
    let live = member.get(&path).await.ok()["live_version_id"].clone();
    member.edit(&group, json!([word("draft", "draft")])).await;
    let matching = async |sample: Value| -> Vec<Value> {
        let result = member.post(&format!("{path}/test"), sample).await.ok();
        let matches = result["matches"].as_array().unwrap().iter();
        matches.map(|found| found["rule_name"].clone()).collect()
    };
    let text = "live draft given";
    assert_eq!(matching(json!({ "text": text })).await, ["draft"]);
    let version = json!({ "text": text, "version_id": live });
    assert_eq!(matching(version).await, ["live"]);
    let given = json!({ "text": text, "rules": [word("given", "given")] });
    assert_eq!(matching(given).await, ["given"]);
    assert_eq!(
        matching(json!({ "text": text, "rules": [] })).await,
        Vec::<Value>::new()
    );
    let both = json!({ "text": text, "version_id": live, "rules": [] });
    let refused = member.post(&format!("{path}/test"), both).await;
    refused.blames("invalid_request", &["version_id"]);
}

#[sqlx::test(migrations = false)]
async fn the_providers_are_asked_only_for_rules_that_want_scores_and_their_failures_stay_inside(
    pool: PgPool,
) {
    let options = Options {
        analyse: Some(Arc::new(|text, wanted| {
            assert_eq!(wanted, [Category::Hate]);
            Box::pin(async move {
                let failed = Unchecked::ProviderFailed {
                    provider: "openai".into(),
                    modality: Modality::Text,
                    detail: INTERNAL.into(),
                };
                let fails = text.contains("fail");
                let scores: Scores = [(Category::Hate, 0.7)].into_iter().collect();
                Analysed {
                    scores: (!fails).then_some(scores),
                    unchecked: fails.then_some(failed).into_iter().collect(),
                }
            })
        })),
        ..Options::default()
    };
    let app = App::with(pool, options).await;
    let member = app.member(app.tenant.team).await;
    let hate =
        json!({ "name": "Hate", "type": "ai_threshold", "category": "hate", "review_at": 0.5 });
    let group = member.new_group("House", json!([&hate])).await;
    let path = format!("/rule-groups/{group}/test");
    let result = member.post(&path, json!({ "text": "a" })).await.ok();
    assert_eq!(result["scores"], json!({ "hate": 0.7 }));
    assert_eq!(
        (&result["scores_from"], &result["status"]),
        (&json!("providers"), &json!("pending_review"))
    );
    let words = json!({ "text": "a", "rules": [word("w", "w")] });
    let unasked = member.post(&path, words).await.ok();
    assert_eq!(unasked["scores_from"], "nowhere");
    for (wish, status) in [("reject", "rejected"), ("approve", "approved")] {
        let sample = json!({ "text": "fail", "on_failure": wish });
        let failed = member.post(&path, sample).await;
        assert!(!failed.body.contains("10.0.0.7"), "{failed:?}");
        assert_eq!(failed.ok()["status"], status);
    }
    // A rule that matches is not hidden by the provider's failure.
    for (effect, wish, status) in [
        ("review", "approve", "pending_review"),
        ("review", "reject", "rejected"),
        ("reject", "approve", "rejected"),
    ] {
        let matching =
            json!({ "name": "w", "type": "keyword", "keywords": ["fail"], "effect": effect });
        let rules = json!([hate, matching]);
        let sample = json!({ "text": "fail", "on_failure": wish, "rules": rules });
        let judged = member.post(&path, sample).await.ok();
        assert_eq!(judged["status"], status, "{effect}, {wish}");
        let reason = judged["details"]["reason"].as_str();
        let is_told = reason.is_some_and(|reason| reason.contains("Not checked"));
        assert_eq!(is_told, effect == "review", "{reason:?}");
    }
}

impl App {
    /// The verdict on a new item, with what shadows said.
    async fn shadowed(&self, status: Status, shadows: &[(&str, Status)]) -> String {
        let media = self.submitted("a text").await;
        let said = shadows.iter().map(|(version, status)| Shadowed {
            version: version.parse::<GroupVersionId>().unwrap(),
            status: *status,
            unscored: false,
        });
        self.apply(Progress::from(Concluded {
            media: media.parse::<MediaId>().unwrap(),
            status,
            moderation_type: ModerationType::Rule,
            details: r#"{"rule_violations":[]}"#.into(),
            trace: "{}".into(),
            shadows: said.collect(),
        }))
        .await;
        media
    }
}

#[sqlx::test(migrations = false)]
async fn a_shadow_is_set_reported_and_ends_when_it_goes_live(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    let path = format!("/rule-groups/{group}");
    let live = member.get(&path).await.ok()["live_version_id"].clone();
    let shadow_path = format!("{path}/shadow-version");
    let refused = member
        .put(&shadow_path, json!({ "version_id": live }))
        .await;
    refused.problem(409, "version_is_live");
    member.edit(&group, json!([word("a", "a")])).await;
    let shadow = member.make_version(&group, false).await;
    let wanted = json!({ "version_id": shadow });
    let set = member.put(&shadow_path, wanted.clone()).await.ok();
    assert_answers("PUT", "/rule-groups/{rule_group_id}/shadow-version", &set);
    assert_eq!(set["shadow_version_id"], shadow);
    assert_eq!(set["shadow_version_number"], 2);

    app.shadowed(Status::Approved, &[(&shadow, Status::Approved)])
        .await;
    let differing = [
        app.shadowed(Status::Approved, &[(&shadow, Status::Rejected)])
            .await,
        app.shadowed(Status::PendingReview, &[(&shadow, Status::Rejected)])
            .await,
        app.shadowed(Status::Approved, &[(&shadow, Status::Rejected)])
            .await,
    ];
    let versions = format!("{path}/versions/{shadow}");
    let report = member.get(&format!("{versions}/shadow-report")).await.ok();
    let template = "/rule-groups/{rule_group_id}/versions/{version_id}";
    assert_answers("GET", &format!("{template}/shadow-report"), &report);
    assert_eq!(
        report,
        json!({
            "version_id": shadow,
            "judged": 4,
            "differing": 3,
            "unscored": 0,
            "counts": [
                { "live_status": "approved", "shadow_status": "approved", "items": 1 },
                { "live_status": "approved", "shadow_status": "rejected", "items": 2 },
                { "live_status": "pending_review", "shadow_status": "rejected", "items": 1 },
            ],
        })
    );
    let mut listed = Vec::new();
    let mut query = String::new();
    loop {
        let target = format!("{versions}/shadow-differences?limit=2{query}");
        let part = member.get(&target).await.ok();
        assert_answers("GET", &format!("{template}/shadow-differences"), &part);
        for difference in part["data"].as_array().unwrap() {
            listed.push(difference["media_id"].as_str().unwrap().to_owned());
        }
        match part["next_cursor"].as_str() {
            Some(cursor) => query = format!("&cursor={cursor}"),
            None => break,
        }
    }
    listed.reverse();
    assert_eq!(listed, differing);

    let promoted = member
        .put(&format!("{path}/live-version"), wanted)
        .await
        .ok();
    assert_eq!(promoted["live_version_id"], shadow);
    assert_eq!(promoted["shadow_version_id"], Value::Null);
    // What it said is kept.
    let kept = member.get(&format!("{versions}/shadow-report")).await.ok();
    assert_eq!(kept, report);
    let again = json!({ "version_id": live });
    member.put(&shadow_path, again).await.ok();
    let ended = member.delete(&shadow_path).await.ok();
    assert_eq!(ended["shadow_version_id"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn a_backtest_is_one_at_a_time_and_can_be_cancelled(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([word("a", "a")])).await;
    let path = format!("/rule-groups/{group}/backtests");
    app.leaves(store::jobs::BACKTESTS);
    for _ in 0..3 {
        let media = app.submitted("a text").await;
        app.judge(&media, Status::Approved).await;
    }
    let started = member.post(&path, json!({ "limit": 2 })).await;
    assert_eq!(started.status, 202, "{started:?}");
    let backtest = started.json();
    assert_answers("POST", "/rule-groups/{rule_group_id}/backtests", &backtest);
    let id = backtest["id"].as_str().unwrap().to_owned();
    let location = started.header("location").unwrap();
    assert_eq!(location, format!("/management/v1/backtests/{id}"));
    assert_eq!(
        (
            &backtest["state"],
            &backtest["total"],
            &backtest["looked_at"]
        ),
        (&json!("running"), &json!(2), &json!(0))
    );
    let jobs = "select count(*) from queue.jobs where queue = 'backtests'";
    assert_eq!(app.count(jobs).await, 1);
    let second = member.post(&path, json!({})).await;
    second.problem(409, "backtest_running");
    assert_eq!(app.count(jobs).await, 1);

    let own = format!("/backtests/{id}");
    let report = member.get(&own).await.ok();
    assert_answers("GET", "/backtests/{backtest_id}", &report);
    let cancel = format!("{own}/cancel");
    let cancelled = member.post(&cancel, json!(null)).await.ok();
    assert_answers("POST", "/backtests/{backtest_id}/cancel", &cancelled);
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(member.post(&cancel, json!(null)).await.ok(), cancelled);
    let cancellations = "select count(*) from audit_log where action = 'backtest.cancel'";
    assert_eq!(app.count(cancellations).await, 1);

    // Only what was accepted in time.
    let past = json!({ "until": "2026-01-01T00:00:00Z" });
    assert_eq!(member.post(&path, past).await.json()["total"], 0);
    let list = member.get(&path).await.ok();
    assert_answers("GET", "/rule-groups/{rule_group_id}/backtests", &list);
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    for (wrong, field) in [
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 100_001 }), "limit"),
        (json!({ "site_id": uuid::Uuid::now_v7() }), "site_id"),
        (json!({ "version_id": uuid::Uuid::now_v7() }), "version_id"),
        (json!({ "since": "yesterday" }), "since"),
    ] {
        let refused = member.post(&path, wrong).await;
        refused.blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn case_38_a_team_stores_a_bounded_amount_of_rules_in_a_day(pool: PgPool) {
    let options = Options {
        rules_per_day: 8_192,
        ..Options::default()
    };
    let app = App::with(pool, options).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    // Postgres keeps 2 KB of such rules as they are, or a little smaller.
    let words: Vec<String> = (0..100).map(|_| uuid::Uuid::now_v7().to_string()).collect();
    let rules =
        json!([{ "name": "Words", "type": "keyword", "keywords": words, "effect": "reject" }]);
    let mut made = 0;
    let refused = loop {
        member.edit(&group, rules.clone()).await;
        let revision = member.draft(&group).await["revision"].clone();
        let path = format!("/rule-groups/{group}/versions");
        let answer = member.post(&path, json!({ "revision": revision })).await;
        if answer.status != 201 || made == 20 {
            break answer;
        }
        made += 1;
    };
    assert!((1..10).contains(&made), "{made}");
    let problem = refused.problem(409, "limit_reached");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("24 hours"), "{detail}");
    let group = json!({ "name": "Another", "rules": [] });
    member
        .post("/rule-groups", group)
        .await
        .problem(409, "limit_reached");
    // What was stored before no longer counts.
    sqlx::query("update rule_group_versions set created_at = now() - interval '25 hours'")
        .execute(&app.pool)
        .await
        .unwrap();
    member.new_group("Another", json!([])).await;
}
