//! Bulk decisions: what they are about, what they leave alone, and what can be undone.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{bulk_decision::slice, jobs};
use uuid::Uuid;

use super::{Caller, bodies, claim_one};
use crate::{
    app::{App, Tenant},
    management::document::assert_answers,
};

impl App {
    /// Makes all decisions of the bulk decisions that run, as the workers do.
    async fn decide_in_bulk(&self) {
        while self.decide_slice().await {}
    }

    /// Makes the decisions of one slice. False: no bulk decision runs.
    async fn decide_slice(&self) -> bool {
        let running = "select id from bulk_decisions where state = 'running'";
        let running: Option<Uuid> = sqlx::query_scalar(running)
            .fetch_optional(&self.pool)
            .await
            .unwrap();
        let Some(bulk) = running else { return false };
        let slice = slice::next(&self.pool, bulk.into()).await.unwrap();
        self.apply(slice.unwrap()).await;
        true
    }

    /// An app, with items that wait.
    async fn with_reviews(pool: PgPool, items: usize) -> Self {
        let app = Self::start(pool).await;
        app.leaves(jobs::BULK_DECISIONS);
        app.leaves(jobs::REVIEWS);
        for item in 0..items {
            app.in_review(&format!("item {item}")).await;
        }
        app
    }

    async fn reviews(&self) -> Vec<Uuid> {
        sqlx::query_scalar("select id from review_tasks order by id")
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }

    async fn approved(&self) -> i64 {
        self.count("select count(*) from media where status = 'approved'")
            .await
    }
}

async fn preview(caller: &Caller<'_>, filter: Value) -> Value {
    let seen = caller.post("/reviews/bulk/preview", filter).await.ok();
    assert_answers("POST", "/reviews/bulk/preview", &seen);
    seen
}

/// Starts a bulk decision, and returns its path.
async fn start(caller: &Caller<'_>, decision: Value) -> String {
    let answer = caller.post("/reviews/bulk", decision).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let started = answer.json();
    assert_answers("POST", "/reviews/bulk", &started);
    format!("/reviews/bulk/{}", started["id"].as_str().unwrap())
}

async fn progress(caller: &Caller<'_>, path: &str) -> (i64, i64, i64, String) {
    let bulk = caller.get(path).await.ok();
    assert_answers("GET", "/reviews/bulk/{bulk_decision_id}", &bulk);
    let number = |member: &str| bulk[member].as_i64().unwrap();
    (
        number("done"),
        number("skipped"),
        number("undone"),
        bulk["state"].as_str().unwrap().to_owned(),
    )
}

fn state(done: i64, skipped: i64, undone: i64, state: &str) -> (i64, i64, i64, String) {
    (done, skipped, undone, state.to_owned())
}

#[sqlx::test(migrations = false)]
async fn named_reviews_are_decided_and_told_once_and_others_wait(pool: PgPool) {
    let app = App::with_reviews(pool, 3).await;
    let lead = app.member(app.tenant.team).await;
    let named = app.reviews().await[..2].to_vec();
    let ids = [named[0], named[1], named[0], Uuid::now_v7()];
    let path = start(&lead, json!({ "decision": "approve", "review_ids": ids })).await;
    app.decide_in_bulk().await;
    assert_eq!(progress(&lead, &path).await, state(2, 1, 0, "finished"));
    // They are held: nobody is told, nobody gets them.
    assert_eq!(app.approved().await, 0);
    assert_eq!(
        claim_one(&lead).await,
        app.reviews()
            .await
            .into_iter()
            .find(|review| !named.contains(review))
            .unwrap()
            .to_string()
    );
    app.end_holds().await;
    app.end_holds().await;
    assert_eq!(app.approved().await, 2);
    let told = "select count(*) from verdicts where moderation_type = 'manual'";
    assert_eq!(app.count(told).await, 2);
    let kept = "select count(*) from bulk_decisions where review_ids <> '{}'";
    assert_eq!(app.count(kept).await, 0);
    let listed = lead.get("/reviews/bulk").await.ok();
    assert_answers("GET", "/reviews/bulk", &listed);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let recorded = "select count(*) from audit_log where action = 'bulk_decision.create' and team_id is not null";
    assert_eq!(app.count(recorded).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_filter_finds_what_has_all_of_it_and_decides_about_no_more_than_was_shown(pool: PgPool) {
    let app = App::with_reviews(pool, 0).await;
    sqlx::query("update sites set author_pointer = '/user'")
        .execute(&app.pool)
        .await
        .unwrap();
    let spam = app.policy("spam", 2, &["spam"], false).await;
    for (body, user, categories, rules) in [
        ("links", "ada", &["spam"][..], &["links"][..]),
        ("more links", "bob", &[], &["links"]),
        ("insult", "ada", &["hate"], &[]),
    ] {
        let item = json!({ "body": body, "metadata": { "user": user } });
        let item = app.submit(item).await.ok();
        let media = item["id"].as_str().unwrap();
        app.flag(media, categories, rules).await;
    }
    let lead = app.member(app.tenant.team).await;
    let found = async |filter: Value| {
        let seen = preview(&lead, filter).await;
        let shown: Vec<Value> = seen["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|shown| shown["review"].clone())
            .collect();
        assert_eq!(seen["count"], shown.len());
        let mut bodies: Vec<String> = bodies(&shown).into_iter().map(str::to_owned).collect();
        bodies.sort_unstable();
        bodies
    };
    for (filter, expected) in [
        (json!({}), &["insult", "links", "more links"][..]),
        (
            json!({ "site_id": app.tenant.site }),
            &["insult", "links", "more links"],
        ),
        (json!({ "site_id": Uuid::now_v7() }), &[]),
        (json!({ "severity": "high" }), &["links"]),
        (json!({ "policy_id": spam }), &["links"]),
        (json!({ "category": "hate" }), &["insult"]),
        (json!({ "rule": "links" }), &["links", "more links"]),
        (json!({ "rule": "links", "author": "bob" }), &["more links"]),
        (json!({ "author": "carol" }), &[]),
    ] {
        assert_eq!(found(filter.clone()).await, expected, "{filter}");
    }

    let rejection = json!({
        "decision": "reject", "policy_id": spam, "filter": { "rule": "links" }, "count": 1,
    });
    lead.post("/reviews/bulk", rejection)
        .await
        .problem(409, "more_reviews_match");
    let rejection = json!({
        "decision": "reject", "policy_id": spam, "filter": { "rule": "links" }, "count": 2,
    });
    let path = start(&lead, rejection).await;
    // What comes later is not among them.
    let late = app.submitted("late").await;
    app.flag(&late, &[], &["links"]).await;
    app.decide_in_bulk().await;
    app.end_holds().await;
    assert_eq!(progress(&lead, &path).await, state(2, 0, 0, "finished"));
    assert_eq!(app.status_of(&late).await, "pending_review");
    let told = "select count(*) from media where status = 'rejected'";
    assert_eq!(app.count(told).await, 2);
    let reasons = "select count(*) from verdicts
                   where details ->> 'reason' = 'It breaks spam.' and trace -> 'review' ->> 'bulk_id' is not null";
    assert_eq!(app.count(reasons).await, 2);
}

#[sqlx::test(migrations = false)]
async fn what_somebody_has_is_skipped_and_so_is_what_the_lead_passed_on(pool: PgPool) {
    let app = App::with_reviews(pool, 4).await;
    let (lead, moderator) = (app.member(app.tenant.team).await, app.moderator().await);
    let all = app.reviews().await;
    let started = start(&lead, json!({ "decision": "approve", "review_ids": all })).await;
    let leased = claim_one(&moderator).await;
    let other = app.moderator().await;
    let held = claim_one(&other).await;
    super::decide(
        &other,
        &held,
        json!({ "decision": "reject", "reason": "No." }),
    )
    .await;
    let skipped = claim_one(&lead).await;
    let path = format!("/reviews/{skipped}/skip");
    assert_eq!(lead.send("POST", &path, "").await.status, 204);
    app.decide_in_bulk().await;
    assert_eq!(progress(&lead, &started).await, state(1, 3, 0, "finished"));
    let path = format!("/reviews/{leased}");
    assert_eq!(moderator.get(&path).await.ok()["id"], leased);
    app.end_holds().await;
    assert_eq!(app.approved().await, 1);
    assert_eq!(preview(&lead, json!({})).await["count"], 0);
}

#[sqlx::test(migrations = false)]
async fn undone_while_it_is_held_nothing_is_told_and_the_rest_is_stopped(pool: PgPool) {
    let app = App::with_reviews(pool, 103).await;
    let lead = app.member(app.tenant.team).await;
    let decision = json!({ "decision": "approve", "filter": {}, "count": 103 });
    let path = start(&lead, decision.clone()).await;
    lead.post("/reviews/bulk", decision)
        .await
        .problem(409, "bulk_decision_running");
    let late = slice::next(&app.pool, path[14..].parse::<Uuid>().unwrap().into());
    let late = late.await.unwrap().unwrap();
    assert!(app.decide_slice().await);
    assert_eq!(progress(&lead, &path).await, state(100, 0, 0, "running"));
    let undone = lead.delete(&path).await.ok();
    assert_answers("DELETE", "/reviews/bulk/{bulk_decision_id}", &undone);
    assert_eq!(
        (&undone["undone"], &undone["state"]),
        (&json!(100), &json!("cancelled"))
    );
    // The same slice again changes nothing, and neither does undoing again.
    app.apply(late).await;
    lead.delete(&path).await.ok();
    assert_eq!(
        progress(&lead, &path).await,
        state(100, 0, 100, "cancelled")
    );
    app.end_holds().await;
    assert_eq!(app.approved().await, 0);
    assert_eq!(preview(&lead, json!({})).await["count"], 103);
    let recorded = "select count(*) from audit_log where action = 'bulk_decision.cancel'";
    assert_eq!(app.count(recorded).await, 1);

    // What was told stays.
    let path = start(
        &lead,
        json!({ "decision": "approve", "filter": {}, "count": 103 }),
    )
    .await;
    assert!(app.decide_slice().await);
    app.end_holds().await;
    assert!(app.decide_slice().await);
    assert_eq!(lead.delete(&path).await.ok()["undone"], 3);
    app.end_holds().await;
    assert_eq!(app.approved().await, 100);
    assert_eq!(progress(&lead, &path).await, state(103, 0, 3, "finished"));
}

#[sqlx::test(migrations = false)]
async fn a_leads_word_is_final_where_two_people_must_agree(pool: PgPool) {
    let app = App::with_reviews(pool, 2).await;
    sqlx::query("insert into desk_settings (site_id, audit_percent) select id, 100 from sites")
        .execute(&app.pool)
        .await
        .unwrap();
    let strict = app.policy("strict", 1, &[], true).await;
    let (lead, moderator) = (app.member(app.tenant.team).await, app.moderator().await);
    let first = claim_one(&moderator).await;
    let rejection = json!({ "decision": "reject", "policy_id": strict });
    super::decide(&moderator, &first, rejection).await;
    app.end_holds().await;
    let waits = "select count(*) from review_opinions where outcome = 'waits'";
    assert_eq!(app.count(waits).await, 1);
    let reviews = app.reviews().await;
    let decision = json!({ "decision": "reject", "policy_id": strict, "review_ids": reviews });
    let path = start(&lead, decision).await;
    app.decide_in_bulk().await;
    app.end_holds().await;
    assert_eq!(progress(&lead, &path).await, state(2, 0, 0, "finished"));
    let told = "select count(*) from media where status = 'rejected'";
    assert_eq!(app.count(told).await, 2);
    let agreed =
        "select count(*) from review_opinions where outcome = 'agreed' and bulk_id is null";
    assert_eq!(app.count(agreed).await, 1);
    // A lead's word is not audited.
    assert!(app.reviews().await.is_empty());
}

#[sqlx::test(migrations = false)]
async fn other_kinds_of_reviews_are_never_decided_in_bulk(pool: PgPool) {
    let app = App::with_reviews(pool, 3).await;
    let lead = app.member(app.tenant.team).await;
    let all = app.reviews().await;
    sqlx::query(
        "update review_tasks t set kind = k.kind
         from unnest($1::uuid[], array['audit', 'golden', 'appeal']) as k (id, kind)
         where t.id = k.id",
    )
    .bind(&all)
    .execute(&app.pool)
    .await
    .unwrap();
    assert_eq!(preview(&lead, json!({})).await["count"], 0);
    let path = start(&lead, json!({ "decision": "approve", "review_ids": all })).await;
    app.decide_in_bulk().await;
    assert_eq!(progress(&lead, &path).await, state(0, 3, 0, "finished"));
}

#[sqlx::test(migrations = false)]
async fn another_teams_reviews_are_as_missing_ones(pool: PgPool) {
    let app = App::with_reviews(pool, 2).await;
    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    assert_eq!(preview(&stranger, json!({})).await["count"], 0);
    let mut told = Vec::new();
    for ids in [app.reviews().await, vec![Uuid::now_v7(), Uuid::now_v7()]] {
        let path = start(
            &stranger,
            json!({ "decision": "approve", "review_ids": ids }),
        )
        .await;
        app.decide_in_bulk().await;
        told.push(progress(&stranger, &path).await);
    }
    assert_eq!(told[0], state(0, 2, 0, "finished"));
    assert_eq!(told[0], told[1]);
    assert_eq!(app.count("select count(*) from review_opinions").await, 0);
}

#[sqlx::test(migrations = false)]
async fn only_leads_decide_in_bulk_and_mistakes_are_named(pool: PgPool) {
    let app = App::with_reviews(pool, 1).await;
    let moderator = app.moderator().await;
    let approval = json!({ "decision": "approve", "filter": {}, "count": 1 });
    for (path, body) in [
        ("/reviews/bulk", approval),
        ("/reviews/bulk/preview", json!({})),
    ] {
        moderator
            .post(path, body)
            .await
            .problem(403, "missing_scope");
    }
    let lead = app
        .caller(Some(app.tenant.team), &[Scope::ReviewsManage])
        .await;
    let many: Vec<Uuid> = (0..501).map(|_| Uuid::now_v7()).collect();
    for (decision, field) in [
        (json!({ "decision": "approve" }), "review_ids"),
        (
            json!({ "decision": "approve", "review_ids": [] }),
            "review_ids",
        ),
        (
            json!({ "decision": "approve", "review_ids": many }),
            "review_ids",
        ),
        (
            json!({ "decision": "approve", "review_ids": [Uuid::now_v7()], "filter": {}, "count": 1 }),
            "review_ids",
        ),
        (json!({ "decision": "approve", "filter": {} }), "count"),
        (
            json!({ "decision": "reject", "filter": {}, "count": 1 }),
            "reason",
        ),
        (
            json!({ "decision": "reject", "policy_id": Uuid::now_v7(), "filter": {}, "count": 1 }),
            "policy_id",
        ),
    ] {
        lead.post("/reviews/bulk", decision)
            .await
            .blames("invalid_request", &[field]);
    }
    assert_eq!(app.count("select count(*) from bulk_decisions").await, 0);
}
