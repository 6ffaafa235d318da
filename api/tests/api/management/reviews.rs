//! Reviews: what people are asked to look at, and what they decide.

mod blind_reviews;
mod bulk;
mod held_decisions;
mod leases;
mod reports;
mod second_looks;

use domain::{id::OpinionId, scope::Scope};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{jobs, review::Ended};
use uuid::Uuid;

use super::{Caller, document::assert_answers};
use crate::app::{App, Tenant};

impl App {
    /// Somebody who may decide and leads nothing.
    pub(super) async fn moderator(&self) -> Caller<'_> {
        let scopes = [Scope::MediaDecide, Scope::ReviewsRead];
        self.caller(Some(self.tenant.team), &scopes).await
    }

    /// Ends the time to undo of everything that is held, as the workers do.
    async fn end_holds(&self) {
        let held: Vec<Uuid> =
            sqlx::query_scalar("select id from review_opinions where outcome is null order by id")
                .fetch_all(&self.pool)
                .await
                .unwrap();
        for opinion in held {
            let opinion = OpinionId::from(opinion);
            self.apply(Ended { opinion }).await;
        }
    }

    /// A policy of the team.
    pub(super) async fn policy(
        &self,
        code: &str,
        severity: i16,
        categories: &[&str],
        two_people: bool,
    ) -> Uuid {
        sqlx::query_scalar(
            "insert into review_policies
                 (id, team_id, code, name, guideline, reason, severity, categories, rules, two_people)
             values (gen_random_uuid(), $1, $2, $2, '', 'It breaks ' || $2 || '.', $3, $4, '{}', $5)
             returning id",
        )
        .bind(self.tenant.team.as_uuid())
        .bind(code)
        .bind(severity)
        .bind(categories)
        .bind(two_people)
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    async fn status_of(&self, media: &str) -> String {
        sqlx::query_scalar("select status from media where id = $1::text::uuid")
            .bind(media)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// The reviews that somebody claims, and has: this many at most.
async fn claim(caller: &Caller<'_>, limit: usize) -> Vec<Value> {
    let claimed = caller
        .post("/reviews/claim", json!({ "limit": limit }))
        .await
        .ok();
    assert_answers("POST", "/reviews/claim", &claimed);
    claimed["data"].as_array().unwrap().clone()
}

/// The only review that somebody claims.
async fn claim_one(caller: &Caller<'_>) -> String {
    let claimed = claim(caller, 1).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed[0]["id"].as_str().unwrap().to_owned()
}

fn bodies(reviews: &[Value]) -> Vec<&str> {
    reviews
        .iter()
        .map(|review| review["body"].as_str().unwrap())
        .collect()
}

async fn decide(caller: &Caller<'_>, review: &str, decision: Value) -> Value {
    let held = caller
        .post(&format!("/reviews/{review}/decision"), decision)
        .await
        .ok();
    assert_answers("POST", "/reviews/{review_id}/decision", &held);
    held
}

#[sqlx::test(migrations = false)]
async fn a_review_shows_the_item_and_why_a_person_is_asked_but_not_which_item_it_is(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::ANALYSIS);
    sqlx::query("update sites set author_pointer = '/user'")
        .execute(&app.pool)
        .await
        .unwrap();
    let rude = app.policy("rude", 2, &["hate"], false).await;
    let by_ada =
        |body: &str| json!({ "body": body, "app_media_id": "n-1", "metadata": { "user": "ada" } });
    for (body, status) in [("first", "rejected"), ("second", "approved")] {
        let item = app.submit(by_ada(body)).await.ok();
        app.judge(item["id"].as_str().unwrap(), status.parse().unwrap())
            .await;
    }
    let item = app.submit(by_ada("third")).await.ok();
    let media = item["id"].as_str().unwrap().to_owned();
    app.flag(&media, &["hate"], &["no insults"]).await;

    let moderator = app.moderator().await;
    let review = claim(&moderator, 5).await.remove(0);
    assert_eq!(review["severity"], "high");
    assert_eq!(review["body"], "third");
    assert_eq!(review["metadata"], json!({ "user": "ada" }));
    assert_eq!(
        review["author_history"],
        json!({ "approved": 1, "rejected": 1, "pending_review": 0 })
    );
    assert_eq!(review["suggested_policy_ids"], json!([rude]));
    assert_eq!(review["details"]["flagged_categories"], json!(["hate"]));
    let text = review.to_string();
    for hidden in [media.as_str(), "n-1", "pending_review\":\""] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let id = review["id"].as_str().unwrap();
    assert_eq!(moderator.get(&format!("/reviews/{id}")).await.ok(), review);
    let waiting = moderator.get("/reviews/waiting").await.ok();
    assert_answers("GET", "/reviews/waiting", &waiting);
    assert_eq!(
        (
            &waiting["data"][0]["reviews"],
            &waiting["data"][0]["severity"]
        ),
        (&json!(1), &json!("high"))
    );
}

#[sqlx::test(migrations = false)]
async fn reviews_of_other_teams_do_not_exist(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let moderator = app.moderator().await;
    let review = claim_one(&moderator).await;
    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    assert!(claim(&stranger, 5).await.is_empty());
    let missing = Uuid::now_v7().to_string();
    for (method, action, body) in [
        ("GET", "", ""),
        ("GET", "/preview", ""),
        ("POST", "/renew", ""),
        ("POST", "/skip", ""),
        ("POST", "/escalate", "{}"),
        ("POST", "/decision", r#"{"decision":"approve"}"#),
        ("DELETE", "/decision", ""),
    ] {
        let ask = async |id: &str| {
            stranger
                .send(method, &format!("/reviews/{id}{action}"), body)
                .await
        };
        let (theirs, none) = (ask(&review).await, ask(&missing).await);
        assert_eq!(theirs.status, 404, "{method} {action} {theirs:?}");
        assert_eq!(theirs.likeness(), none.likeness(), "{method} {action}");
    }
    assert_eq!(
        stranger.get("/reviews/waiting").await.ok()["data"],
        json!([])
    );
    app.end_holds().await;
    assert_eq!(claim_one(&moderator).await, review);
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_decisions_are_named_and_decide_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let policy = app.policy("spam", 1, &[], false).await;
    let moderator = app.moderator().await;
    let review = claim_one(&moderator).await;
    let path = format!("/reviews/{review}/decision");
    for (decision, field) in [
        (json!({ "decision": "reject" }), "reason"),
        (
            json!({ "decision": "approve", "policy_id": policy }),
            "policy_id",
        ),
        (
            json!({ "decision": "reject", "policy_id": Uuid::now_v7() }),
            "policy_id",
        ),
        (json!({ "decision": "reject", "reason": " " }), "reason"),
        (json!({ "decision": "block" }), "decision"),
    ] {
        moderator
            .post(&path, decision)
            .await
            .blames("invalid_request", &[field]);
    }
    let reader = app.caller(Some(app.tenant.team), &[Scope::MediaRead]).await;
    reader
        .post("/reviews/claim", json!({}))
        .await
        .problem(403, "missing_scope");
    let operator = app.operator().await;
    operator
        .post("/reviews/claim", json!({}))
        .await
        .problem(400, "invalid_request");
    assert_eq!(app.count("select count(*) from review_opinions").await, 0);
}
