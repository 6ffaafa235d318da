//! Who gets which review, and for how long.

use std::collections::HashSet;

use domain::review::Tier;
use futures::future::join_all;
use serde_json::json;
use sqlx::PgPool;
use store::{
    jobs,
    review::{self, NewClaim},
};

use super::{bodies, claim, claim_one};
use crate::app::App;

#[sqlx::test(migrations = false)]
async fn the_most_severe_comes_first_and_then_what_is_due_first(pool: PgPool) {
    let app = App::start(pool).await;
    app.policy("low", 0, &["spam"], false).await;
    app.policy("critical", 3, &["self_harm"], false).await;
    for (body, categories) in [
        ("normal", &[][..]),
        ("low", &["spam"]),
        ("critical", &["self_harm"]),
        ("critical, too", &["spam", "self_harm"]),
    ] {
        let media = app.submitted(body).await;
        app.flag(&media, categories, &[]).await;
    }
    let moderator = app.moderator().await;
    let order = claim(&moderator, 10).await;
    assert_eq!(
        bodies(&order),
        ["critical", "critical, too", "normal", "low"]
    );
}

#[sqlx::test(migrations = false)]
async fn no_two_people_have_the_same_review_and_everybody_keeps_their_own(pool: PgPool) {
    let app = App::start(pool).await;
    for number in 0..40 {
        app.in_review(&number.to_string()).await;
    }
    let people = join_all((0..5).map(|_| app.moderator())).await;
    let claimed = join_all(people.iter().map(|person| claim(person, 7))).await;
    let mut seen = HashSet::new();
    for claimed in &claimed {
        assert_eq!(claimed.len(), 7);
        for review in claimed {
            assert!(seen.insert(review["id"].as_str().unwrap().to_owned()));
        }
    }
    let again = claim(&people[0], 7).await;
    assert_eq!(bodies(&again), bodies(&claimed[0]));
    // Nobody has more than 20.
    assert_eq!(claim(&people[0], 20).await.len(), 12);
    assert_eq!(claim(&people[1], 20).await.len(), 7);
    people[0]
        .post("/reviews/claim", json!({ "limit": 21 }))
        .await
        .blames("invalid_request", &["limit"]);
}

#[sqlx::test(migrations = false)]
async fn claims_of_one_person_at_once_give_the_same_reviews(pool: PgPool) {
    let app = App::start(pool).await;
    for number in 0..40 {
        app.in_review(&number.to_string()).await;
    }
    let person = app.moderator().await;
    // The first claims ever of a person, and later ones.
    for _ in 0..2 {
        let all = join_all((0..4).map(|_| claim(&person, 20))).await;
        let ids: HashSet<_> = all.iter().flatten().map(|review| &review["id"]).collect();
        assert_eq!(ids.len(), 20);
        let lapse =
            "update review_tasks set leased_until = clock_timestamp() - interval '1 second'";
        sqlx::query(lapse).execute(&app.pool).await.unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn a_person_finds_again_what_was_undone_or_renewed_late(pool: PgPool) {
    let app = App::start(pool).await;
    // The job of the decision that is undone.
    app.leaves(jobs::REVIEWS);
    for body in ["a", "b", "c"] {
        app.in_review(body).await;
    }
    let person = app.moderator().await;
    let undone = claim_one(&person).await;
    let path = format!("/reviews/{undone}/decision");
    person
        .post(&path, json!({ "decision": "approve" }))
        .await
        .ok();
    let renewed = claim_one(&person).await;
    let lapse = "update review_tasks set leased_until = clock_timestamp() - interval '1 second' where leased_by is not null";
    sqlx::query(lapse).execute(&app.pool).await.unwrap();
    // Somebody else looks at it for a moment, so that the person claims another one.
    let hide = "update review_tasks set held_until = case when held_until is null then now() end where id = $1";
    let hidden: uuid::Uuid = renewed.parse().unwrap();
    sqlx::query(hide)
        .bind(hidden)
        .execute(&app.pool)
        .await
        .unwrap();
    let third = claim_one(&person).await;
    sqlx::query(hide)
        .bind(hidden)
        .execute(&app.pool)
        .await
        .unwrap();

    let path = format!("/reviews/{renewed}/renew");
    person.post(&path, json!({})).await.ok();
    person
        .delete(&format!("/reviews/{undone}/decision"))
        .await
        .ok();
    let has: HashSet<_> = claim(&person, 3)
        .await
        .iter()
        .map(|review| review["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(has, HashSet::from([undone, renewed, third]));
}

#[sqlx::test(migrations = false)]
async fn a_claim_writes_no_index_of_the_reviews(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let mut tx = app.pool.begin().await.unwrap();
    let new = NewClaim {
        actor: uuid::Uuid::now_v7().into(),
        team: app.tenant.team,
        tiers: &[Tier::Everybody],
        sites: None,
        most: 1,
    };
    let claimed = review::claim(&mut tx, new).await.unwrap();
    assert_eq!(claimed.reviews.len(), 1);
    let written = "select pg_stat_get_xact_tuples_updated(oid), pg_stat_get_xact_tuples_hot_updated(oid) from pg_class where relname = 'review_tasks'";
    let written: (i64, i64) = sqlx::query_as(written).fetch_one(&mut *tx).await.unwrap();
    assert_eq!(written, (1, 1));
}

#[sqlx::test(migrations = false)]
async fn a_lease_that_nobody_renews_ends_and_somebody_else_gets_the_review(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let (first, second) = (app.moderator().await, app.moderator().await);
    let review = claim_one(&first).await;
    assert!(claim(&second, 1).await.is_empty());
    let renewed = first
        .post(&format!("/reviews/{review}/renew"), json!({}))
        .await;
    let renewed = renewed.ok();
    super::assert_answers("POST", "/reviews/{review_id}/renew", &renewed);

    let expire = "update review_tasks set leased_until = clock_timestamp() - interval '1 second'";
    sqlx::query(expire).execute(&app.pool).await.unwrap();
    // As long as nobody else has taken it, it is still the first one's.
    first.get(&format!("/reviews/{review}")).await.ok();
    assert_eq!(claim_one(&second).await, review);
    first
        .get(&format!("/reviews/{review}"))
        .await
        .problem(404, "not_found");
    for action in ["renew", "skip"] {
        first
            .post(&format!("/reviews/{review}/{action}"), json!({}))
            .await
            .problem(409, "review_not_yours");
    }
    let approval = json!({ "decision": "approve" });
    first
        .post(&format!("/reviews/{review}/decision"), approval)
        .await
        .problem(409, "review_not_yours");

    let long_ago = "update review_tasks set leased_at = clock_timestamp() - interval '61 minutes'";
    sqlx::query(long_ago).execute(&app.pool).await.unwrap();
    second
        .post(&format!("/reviews/{review}/renew"), json!({}))
        .await
        .problem(409, "review_not_yours");
}

#[sqlx::test(migrations = false)]
async fn who_skips_a_review_does_not_get_it_again_and_the_third_skip_asks_a_lead(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let lead = app.member(app.tenant.team).await;
    for _ in 0..3 {
        let moderator = app.moderator().await;
        let review = claim_one(&moderator).await;
        let path = format!("/reviews/{review}/skip");
        moderator.post(&path, json!({})).await.done();
        assert!(claim(&moderator, 1).await.is_empty());
    }
    assert!(claim(&app.moderator().await, 1).await.is_empty());
    let claimed = claim(&lead, 1).await;
    assert_eq!(claimed[0]["tier"], "leads");
    // Nobody may be left, so a lead gets it again.
    let review = claimed[0]["id"].as_str().unwrap();
    let path = format!("/reviews/{review}/skip");
    lead.post(&path, json!({})).await.done();
    assert_eq!(claim_one(&lead).await, review);
    let log = lead.get("/audit-log?action=review.skip").await.ok();
    assert_eq!(log["data"].as_array().unwrap().len(), 4);
}

#[sqlx::test(migrations = false)]
async fn what_is_escalated_goes_to_the_leads_with_its_note(pool: PgPool) {
    let app = App::start(pool).await;
    app.in_review("a").await;
    let (moderator, lead) = (app.moderator().await, app.member(app.tenant.team).await);
    let review = claim_one(&moderator).await;
    let path = format!("/reviews/{review}/escalate");
    moderator
        .post(&path, json!({ "note": "Is it a quotation?" }))
        .await
        .done();
    assert!(claim(&moderator, 1).await.is_empty());
    let claimed = claim(&lead, 1).await;
    assert_eq!(claimed[0]["notes"][0]["text"], "Is it a quotation?");
    assert_eq!(claimed[0]["notes"][0]["by"], moderator.id().await);
    lead.post(&path, json!({}))
        .await
        .problem(409, "review_escalated");
    let log = lead.get("/audit-log?action=review.escalate").await;
    assert!(!log.body.contains("quotation"));
    assert_eq!(log.ok()["data"].as_array().unwrap().len(), 1);
}

#[sqlx::test(migrations = false)]
async fn a_verdict_from_elsewhere_ends_the_review(pool: PgPool) {
    let app = App::start(pool).await;
    let media = app.in_review("a").await;
    let lead = app.member(app.tenant.team).await;
    let review = claim_one(&lead).await;
    let approval = json!({ "decision": "approve", "reason": "It is fine." });
    lead.post(&format!("/media/{media}/decision"), approval)
        .await
        .ok();
    lead.get(&format!("/reviews/{review}"))
        .await
        .problem(404, "not_found");
    assert!(claim(&lead, 1).await.is_empty());
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);
}
