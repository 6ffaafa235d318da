//! Audits, appeals and items whose answer is known: the person cannot tell them from other reviews.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs;

use super::{bodies, claim, claim_one, decide};
use crate::{app::App, management::Caller};

/// The members of a review, without what differs between any two.
fn likeness(review: &Value) -> Value {
    let mut review = review.clone();
    for own in ["id", "body", "waiting_since", "due_at", "leased_until"] {
        review.as_object_mut().unwrap().remove(own).unwrap();
    }
    review
}

async fn set(lead: &Caller<'_>, app: &App, settings: Value) {
    let path = format!("/sites/{}/desk", app.tenant.site);
    lead.patch(&path, settings).await.ok();
}

/// Outcomes of what people said, in order.
async fn outcomes(app: &App) -> Vec<String> {
    sqlx::query_scalar("select outcome from review_opinions order by id")
        .fetch_all(&app.pool)
        .await
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_second_person_looks_at_what_one_decided_and_cannot_tell(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let (lead, first, second) = (
        app.member(app.tenant.team).await,
        app.moderator().await,
        app.moderator().await,
    );
    set(&lead, &app, json!({ "audit_percent": 100 })).await;
    let (media, other) = (app.submitted("decided").await, app.submitted("open").await);
    app.flag(&media, &["hate"], &["words"]).await;
    let review = claim_one(&first).await;
    // What the first one noted would tell.
    let note = json!({ "text": "Clearly hate." });
    first
        .post(&format!("/reviews/{review}/notes"), note)
        .await
        .ok();
    let rejection = json!({ "decision": "reject", "reason": "Hate." });
    decide(&first, &review, rejection.clone()).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "rejected");
    assert!(claim(&first, 1).await.is_empty());

    app.flag(&other, &["hate"], &["words"]).await;
    let claimed = claim(&second, 2).await;
    assert_eq!(claimed.len(), 2);
    let audit = claimed
        .iter()
        .find(|review| review["body"] == "decided")
        .unwrap();
    let normal = claimed
        .iter()
        .find(|review| review["body"] == "open")
        .unwrap();
    let (mut one, mut two) = (likeness(audit), likeness(normal));
    for review in [&mut one, &mut two] {
        let violation = &mut review["details"]["rule_violations"][0];
        violation.as_object_mut().unwrap().remove("rule_id");
    }
    assert_eq!(one, two);

    // The same: nothing changes.
    decide(&second, audit["id"].as_str().unwrap(), rejection).await;
    app.end_holds().await;
    assert_eq!(outcomes(&app).await, ["told", "agreed"]);
    assert_eq!(
        app.count("select count(*) from verdicts where number > 1")
            .await,
        1
    );
}

#[sqlx::test(migrations = false)]
async fn where_an_audit_disagrees_a_lead_decides_and_may_overturn(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let (lead, first, second) = (
        app.member(app.tenant.team).await,
        app.moderator().await,
        app.moderator().await,
    );
    set(&lead, &app, json!({ "audit_percent": 100 })).await;
    let media = app.in_review("a").await;
    let review = claim_one(&first).await;
    decide(&first, &review, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    let audit = claim_one(&second).await;
    let rejection = json!({ "decision": "reject", "reason": "It is an insult." });
    decide(&second, &audit, rejection.clone()).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "approved");
    let claimed = claim(&lead, 1).await;
    assert_eq!(claimed[0]["earlier"][0]["decision"], "reject");
    decide(&lead, &audit, rejection).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "rejected");
    assert_eq!(outcomes(&app).await, ["told", "disagreed", "told"]);
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);
}

#[sqlx::test(migrations = false)]
async fn an_appeal_goes_to_somebody_who_has_not_decided_and_may_overturn(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let (first, second) = (app.moderator().await, app.moderator().await);
    let lead = app.member(app.tenant.team).await;
    let media = app.submitted("a").await;
    let path = format!("/media/{media}/appeal");
    lead.post(&path, json!({}))
        .await
        .problem(409, "still_pending");
    app.flag(&media, &[], &[]).await;
    lead.post(&path, json!({}))
        .await
        .problem(409, "still_in_review");
    let review = claim_one(&first).await;
    decide(
        &first,
        &review,
        json!({ "decision": "reject", "reason": "No." }),
    )
    .await;
    app.end_holds().await;

    let words = json!({ "text": "It is a line of a song." });
    let appeal = lead.post(&path, words.clone()).await.ok();
    super::assert_answers("POST", "/media/{media_id}/appeal", &appeal);
    assert_eq!(appeal["status"], "rejected");
    lead.post(&path, words).await.problem(409, "appeal_open");
    assert!(claim(&first, 1).await.is_empty());
    let claimed = claim(&second, 1).await;
    assert_eq!(claimed[0]["kind"], "appeal");
    assert_eq!(claimed[0]["severity"], "high");
    assert_eq!(claimed[0]["notes"][0]["text"], "It is a line of a song.");
    let appeal = claimed[0]["id"].as_str().unwrap();
    decide(&second, appeal, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&media).await, "approved");
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);

    // Whoever decided is not asked, however they decided: there is nobody left but a third person.
    lead.post(&path, json!({})).await.ok();
    assert!(claim(&first, 1).await.is_empty());
    assert!(claim(&second, 1).await.is_empty());
    // A verdict from elsewhere ends the appeal.
    let rejection = json!({ "decision": "reject", "reason": "No." });
    lead.post(&format!("/media/{media}/decision"), rejection)
        .await
        .ok();
    assert_eq!(app.count("select count(*) from review_tasks").await, 0);
}

#[sqlx::test(migrations = false)]
async fn an_item_whose_answer_is_known_looks_like_any_other_and_changes_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let (lead, moderator) = (app.member(app.tenant.team).await, app.moderator().await);
    set(&lead, &app, json!({ "golden_every": 5 })).await;
    let known = app.in_review("known").await;
    let path = format!("/media/{known}/golden");
    let expected = json!({ "expected": "reject" });
    lead.put(&path, expected.clone())
        .await
        .problem(409, "still_in_review");
    let rejection = json!({ "decision": "reject", "reason": "No." });
    lead.post(&format!("/media/{known}/decision"), rejection.clone())
        .await
        .ok();
    lead.put(&path, expected).await.done();
    moderator
        .put(&path, json!({ "expected": "approve" }))
        .await
        .problem(403, "missing_scope");
    let listed = lead.get("/golden-media").await.ok();
    super::assert_answers("GET", "/golden-media", &listed);
    assert_eq!(listed["data"][0]["media_id"], known);

    // One in five: after so many it would be a wonder if none had come.
    let mut seen = None;
    for number in 0..200 {
        let next = format!("item {number}");
        app.in_review(&next).await;
        let claimed = claim(&moderator, 1).await;
        let review = &claimed[0];
        let id = review["id"].as_str().unwrap();
        if bodies(&claimed) == ["known"] {
            seen = Some(review.clone());
            decide(&moderator, id, rejection.clone()).await;
            app.end_holds().await;
            break;
        }
        decide(&moderator, id, json!({ "decision": "approve" })).await;
        app.end_holds().await;
    }
    let seen = seen.expect("the known item comes");
    app.in_review("another").await;
    let normal = claim(&moderator, 1).await.remove(0);
    assert_eq!(likeness(&seen), likeness(&normal));
    let last = outcomes(&app).await.pop().unwrap();
    assert_eq!(last, "right");
    assert_eq!(app.status_of(&known).await, "rejected");
    let verdicts = lead.get(&format!("/media/{known}")).await.ok()["verdicts"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(verdicts, 2);
    // What waits does not count it, and it never comes twice.
    let again = "select count(*) from review_tasks where kind = 'golden'";
    assert_eq!(app.count(again).await, 0);
    lead.delete(&path).await.done();
    lead.delete(&path).await.problem(404, "not_found");
}

#[sqlx::test(migrations = false)]
async fn notes_and_related_items_are_the_teams(pool: PgPool) {
    let app = App::start(pool).await;
    sqlx::query("update sites set author_pointer = '/user'")
        .execute(&app.pool)
        .await
        .unwrap();
    let by = |body: &str, user: &str| json!({ "body": body, "metadata": { "user": user } });
    let mut ids = Vec::new();
    for (body, user) in [("a", "ada"), ("b", "bob"), ("c", "ada")] {
        let item = app.submit(by(body, user)).await.ok();
        ids.push(item["id"].as_str().unwrap().to_owned());
    }
    let lead = app.member(app.tenant.team).await;
    let related = lead.get(&format!("/media/{}/related", ids[0])).await.ok();
    super::assert_answers("GET", "/media/{media_id}/related", &related);
    let related: Vec<_> = related["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].clone())
        .collect();
    assert_eq!(related, [json!(ids[2])]);

    let path = format!("/media/{}/notes", ids[0]);
    let note = lead
        .post(&path, json!({ "text": "Seen before." }))
        .await
        .ok();
    super::assert_answers("POST", "/media/{media_id}/notes", &note);
    let notes = lead.get(&path).await.ok();
    super::assert_answers("GET", "/media/{media_id}/notes", &notes);
    assert_eq!(notes["data"][0]["text"], "Seen before.");
    let log = lead.get("/audit-log?action=note.create").await;
    assert!(!log.body.contains("Seen before."));
    let other = crate::app::Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    for action in ["notes", "related"] {
        stranger
            .get(&format!("/media/{}/{action}", ids[0]))
            .await
            .problem(404, "not_found");
    }
    for (action, body) in [("notes", json!({ "text": "x" })), ("appeal", json!({}))] {
        stranger
            .post(&format!("/media/{}/{action}", ids[0]), body)
            .await
            .problem(404, "not_found");
    }
    stranger
        .put(
            &format!("/media/{}/golden", ids[0]),
            json!({ "expected": "approve" }),
        )
        .await
        .problem(404, "not_found");
}
