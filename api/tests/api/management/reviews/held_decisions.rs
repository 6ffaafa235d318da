//! Decisions: held, undone, told, and what two people say.

use queue::{DeadJob, DeathCause, FinishTx, JobId, Lane, NewJobs, OnDead as _};
use serde_json::json;
use sqlx::PgPool;
use store::{jobs, review::ReviewDied};

use super::{claim, claim_one, decide};
use crate::app::App;

/// The jobs that tell decisions die.
async fn bury(app: &App) {
    let payloads: Vec<String> =
        sqlx::query_scalar("select payload::text from queue.jobs where queue = 'reviews'")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    let dead = payloads.into_iter().map(|payload| DeadJob {
        id: JobId(1),
        lane: Lane(app.tenant.team.as_uuid()),
        attempt: 10,
        cause: DeathCause::Exhausted,
        error: "a test's".to_owned(),
        payload,
    });
    let mut db = app.pool.begin().await.unwrap();
    let mut tx = FinishTx {
        conn: &mut db,
        jobs: NewJobs::new(),
    };
    let dead: Vec<DeadJob> = dead.collect();
    ReviewDied::apply(&dead, &mut tx).await.unwrap();
    db.commit().await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_decision_is_held_and_then_told_once(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let media = app.in_review("a").await;
    let policy = app.policy("spam", 1, &[], false).await;
    let (moderator, lead) = (app.moderator().await, app.member(app.tenant.team).await);
    let review = claim_one(&moderator).await;
    let rejection = json!({ "decision": "reject", "policy_id": policy });
    decide(&moderator, &review, rejection.clone()).await;
    assert_eq!(app.status_of(&media).await, "pending_review");
    assert!(claim(&moderator, 1).await.is_empty());
    assert!(claim(&lead, 1).await.is_empty());
    moderator
        .post(&format!("/reviews/{review}/decision"), rejection)
        .await
        .problem(409, "review_decided");

    app.end_holds().await;
    app.end_holds().await;
    let item = lead.get(&format!("/media/{media}")).await.ok();
    assert_eq!(item["status"], "rejected");
    assert_eq!(item["verdicts"].as_array().unwrap().len(), 2);
    let verdict = &item["verdicts"][0];
    assert_eq!(verdict["details"]["reason"], "It breaks spam.");
    assert_eq!(
        verdict["trace"]["moderator"]["token_id"],
        moderator.id().await
    );
    assert_eq!(verdict["trace"]["review"]["policy_code"], "spam");
    let told = "select count(*) from events where kind = 'media.moderated' and verdict = 2";
    assert_eq!(app.count(told).await, 1);
    moderator
        .delete(&format!("/reviews/{review}/decision"))
        .await
        .problem(409, "review_told");
    let log = lead.get("/audit-log?action=review.decide").await.ok();
    assert_eq!(log["data"][0]["target_id"], media);
    assert_eq!(
        log["data"][0]["details"],
        json!({ "review_id": review, "decision": "reject", "policy": "spam" })
    );
}

#[sqlx::test(migrations = false)]
async fn what_is_undone_is_never_told_and_the_review_is_the_persons_again(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let media = app.in_review("a").await;
    let (moderator, other) = (app.moderator().await, app.moderator().await);
    let review = claim_one(&moderator).await;
    let path = format!("/reviews/{review}/decision");
    moderator
        .delete(&path)
        .await
        .problem(409, "review_undecided");
    decide(&moderator, &review, json!({ "decision": "approve" })).await;
    other.delete(&path).await.problem(404, "not_found");
    let undone = moderator.delete(&path).await.ok();
    super::assert_answers("DELETE", "/reviews/{review_id}/decision", &undone);
    assert_eq!(undone["id"], review);
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "pending_review");
    assert_eq!(claim_one(&moderator).await, review);

    decide(
        &moderator,
        &review,
        json!({ "decision": "reject", "reason": "Rude." }),
    )
    .await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "rejected");
    assert_eq!(app.count("select count(*) from verdicts").await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_decision_that_somebody_else_overtook_is_not_told(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let media = app.in_review("a").await;
    let (moderator, lead) = (app.moderator().await, app.member(app.tenant.team).await);
    let review = claim_one(&moderator).await;
    decide(&moderator, &review, json!({ "decision": "approve" })).await;
    let rejection = json!({ "decision": "reject", "reason": "No." });
    lead.post(&format!("/media/{media}/decision"), rejection)
        .await
        .ok();
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "rejected");
    assert_eq!(app.count("select count(*) from verdicts").await, 2);
    let superseded = "select count(*) from review_opinions where outcome = 'superseded'";
    assert_eq!(app.count(superseded).await, 1);
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);
}

#[sqlx::test(migrations = false)]
async fn two_people_must_say_the_same_where_a_policy_asks_for_it_and_neither_sees_the_other(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    app.policy("threats", 3, &["violence"], true).await;
    let media = app.submitted("a").await;
    app.flag(&media, &["violence"], &[]).await;
    let (first, second) = (app.moderator().await, app.moderator().await);
    let review = claim_one(&first).await;
    decide(&first, &review, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "pending_review");
    assert!(claim(&first, 1).await.is_empty());

    let claimed = claim(&second, 1).await;
    assert_eq!(claimed[0]["earlier"], json!([]));
    assert_eq!(claimed[0]["id"], review);
    decide(&second, &review, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "approved");
    let outcomes: Vec<String> =
        sqlx::query_scalar("select outcome from review_opinions order by id")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    assert_eq!(outcomes, ["agreed", "told"]);
    assert_eq!(app.count("select count(*) from verdicts").await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_lead_decides_where_two_people_disagree_and_sees_what_they_said(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    // The policy that the first one names asks for a second.
    let policy = app.policy("threats", 3, &[], true).await;
    let media = app.in_review("a").await;
    let (first, second) = (app.moderator().await, app.moderator().await);
    let lead = app.member(app.tenant.team).await;
    let review = claim_one(&first).await;
    decide(
        &first,
        &review,
        json!({ "decision": "reject", "policy_id": policy }),
    )
    .await;
    app.end_holds().await;
    assert_eq!(claim_one(&second).await, review);
    decide(&second, &review, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "pending_review");
    assert!(claim(&app.moderator().await, 1).await.is_empty());

    let claimed = claim(&lead, 1).await;
    let said: Vec<_> = claimed[0]["earlier"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["decision"].clone(), one["by"].clone()))
        .collect();
    assert_eq!(
        said,
        [
            (json!("reject"), json!(first.id().await)),
            (json!("approve"), json!(second.id().await))
        ]
    );
    decide(
        &lead,
        &review,
        json!({ "decision": "reject", "policy_id": policy }),
    )
    .await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "rejected");
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);
}

#[sqlx::test(migrations = false)]
async fn a_decision_whose_job_dies_counts_as_undone(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    app.in_review("a").await;
    let moderator = app.moderator().await;
    let review = claim_one(&moderator).await;
    decide(&moderator, &review, json!({ "decision": "approve" })).await;
    bury(&app).await;
    assert_eq!(claim_one(&moderator).await, review);
    assert_eq!(app.count("select count(*) from review_opinions").await, 0);
}
