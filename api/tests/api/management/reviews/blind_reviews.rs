//! Nobody can tell audits and items whose answer is known from other reviews: neither by what is answered about them, nor by what is
//! answered after they were decided or passed on.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs;
use uuid::Uuid;

use super::{bodies, claim, claim_one, decide};
use crate::{app::App, client::Answer, management::Caller};

/// An answer whose ids and times are replaced by their shapes: the version of an id, and the length of a time.
fn shape(text: &str) -> String {
    let parts = text.split('"').map(|part| {
        let id = part.parse::<Uuid>().ok().filter(|_| part.len() == 36);
        let time = DateTime::parse_from_rfc3339(part).ok();
        match (id, time) {
            (Some(id), _) => format!("<id of version {}>", id.get_version_num()),
            (None, Some(_)) => format!("<time of {} characters>", part.len()),
            (None, None) => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// The same of a whole answer.
fn likeness(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let (status, headers, body) = answer.likeness();
    // Every request counts.
    let headers = headers.into_iter().filter(|(name, _)| name != "ratelimit");
    (status, headers.collect(), shape(&body))
}

impl App {
    /// A site where every decision of a person is followed by an item whose answer is known, if there is one.
    async fn golden_always(&self) {
        for statement in [
            "alter table desk_settings drop constraint desk_settings_golden_every_check",
            "update desk_settings set golden_every = 1",
        ] {
            sqlx::query(statement).execute(&self.pool).await.unwrap();
        }
    }

    /// An item by a new author that a machine sends to a person. All have the same content.
    async fn doubtful(&self, author: &str, category: &str) -> String {
        let item = json!({ "body": "The same words.", "metadata": { "user": author } });
        let item = self.submit(item).await.ok();
        let media = item["id"].as_str().unwrap().to_owned();
        self.flag(&media, &[category], &["words"]).await;
        media
    }

    /// The same, decided, with a known answer.
    async fn known(&self, lead: &Caller<'_>, author: &str, category: &str) -> String {
        let media = self.doubtful(author, category).await;
        let rejection = json!({ "decision": "reject", "reason": "No." });
        lead.post(&format!("/media/{media}/decision"), rejection)
            .await
            .ok();
        let note = json!({ "text": "Whoever approves this is wrong." });
        lead.post(&format!("/media/{media}/notes"), note).await.ok();
        lead.put(
            &format!("/media/{media}/golden"),
            json!({ "expected": "reject" }),
        )
        .await
        .done();
        media
    }

    async fn kind_of(&self, review: &Value) -> String {
        sqlx::query_scalar("select kind from review_tasks where id = $1::text::uuid")
            .bind(review["id"].as_str().unwrap())
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

async fn start(pool: PgPool) -> App {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    sqlx::query("update sites set author_pointer = '/user'")
        .execute(&app.pool)
        .await
        .unwrap();
    app
}

async fn set(lead: &Caller<'_>, app: &App, settings: Value) {
    let path = format!("/sites/{}/desk", app.tenant.site);
    lead.patch(&path, settings).await.ok();
}

/// How many reviews wait, as this person sees it.
async fn waiting(person: &Caller<'_>) -> i64 {
    let waiting = person.get("/reviews/waiting").await.ok();
    let parts = waiting["data"].as_array().unwrap();
    parts
        .iter()
        .map(|part| part["reviews"].as_i64().unwrap())
        .sum()
}

fn time(review: &Value, member: &str) -> DateTime<Utc> {
    review[member].as_str().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_known_answer_an_audit_and_any_other_review_are_the_same_byte_by_byte(pool: PgPool) {
    let app = start(pool).await;
    app.policy("rude", 2, &["hate"], false).await;
    let lead = app.member(app.tenant.team).await;
    let (first, second) = (app.moderator().await, app.moderator().await);
    set(&lead, &app, json!({ "audit_percent": 100 })).await;
    app.known(&lead, "ada", "hate").await;
    app.doubtful("bob", "hate").await;
    let audited = claim_one(&first).await;
    decide(&first, &audited, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    set(&lead, &app, json!({ "audit_percent": 0 })).await;
    app.golden_always().await;
    // The audit is left for later.
    sqlx::query("update review_tasks set due_at = due_at + interval '1 day', waiting_since = waiting_since + interval '1 day'")
        .execute(&app.pool)
        .await
        .unwrap();
    let filler = app.doubtful("dan", "hate").await;
    let last = claim(&second, 1).await.remove(0);
    assert_eq!(app.kind_of(&last).await, "review");
    let id = last["id"].as_str().unwrap();
    decide(&second, id, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    assert_eq!(app.status_of(&filler).await, "approved");
    sqlx::query("update review_tasks set due_at = due_at - interval '1 day', waiting_since = waiting_since - interval '1 day' where kind = 'audit'")
        .execute(&app.pool)
        .await
        .unwrap();
    app.doubtful("cyd", "hate").await;

    let before = waiting(&second).await;
    let reviews = claim(&second, 10).await;
    assert_eq!(reviews.len(), 3, "{reviews:?}");
    assert_eq!(bodies(&reviews), ["The same words."; 3]);
    let mut kinds = Vec::new();
    let mut answers = Vec::new();
    for review in &reviews {
        kinds.push(app.kind_of(review).await);
        let path = format!("/reviews/{}", review["id"].as_str().unwrap());
        let answer = second.get(&path).await;
        let author = review["author"].as_str().unwrap();
        let (status, headers, body) = likeness(&answer);
        answers.push((
            status,
            headers,
            body.replace(&format!("\"{author}\""), "<author>"),
        ));
        let waited = time(review, "due_at") - time(review, "waiting_since");
        assert_eq!(waited.num_minutes(), 240, "{review}");
        assert!(time(review, "waiting_since") < Utc::now(), "{review}");
        // A time that was there before would tell that this review follows that one.
        for member in ["waiting_since", "due_at"] {
            assert_ne!(time(review, member), time(&last, member), "{review}");
        }
    }
    kinds.sort_unstable();
    assert_eq!(kinds, ["audit", "golden", "review"]);
    assert_eq!(answers[0].0, 200);
    for answer in &answers[1..] {
        assert_eq!(answer, &answers[0]);
    }
    // A person who has three reviews sees that three wait.
    assert_eq!((before, waiting(&second).await), (3, 3));
    // Nobody else gets the known one, so it does not wait for others.
    assert_eq!(waiting(&first).await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_known_answer_that_is_more_urgent_than_the_review_before_does_not_wait_since_the_future(
    pool: PgPool,
) {
    let app = start(pool).await;
    app.policy("critical", 3, &["self_harm"], false).await;
    app.policy("low", 0, &["spam"], false).await;
    let (lead, moderator) = (app.member(app.tenant.team).await, app.moderator().await);
    set(&lead, &app, json!({ "golden_every": 5 })).await;
    app.golden_always().await;
    app.known(&lead, "ada", "self_harm").await;
    app.doubtful("bob", "spam").await;
    let low = claim_one(&moderator).await;
    decide(&moderator, &low, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    let known = claim(&moderator, 1).await.remove(0);
    assert_eq!(app.kind_of(&known).await, "golden");
    assert!(time(&known, "waiting_since") < Utc::now(), "{known}");
    let waited = time(&known, "due_at") - time(&known, "waiting_since");
    assert_eq!(
        (waited.num_minutes(), &known["severity"]),
        (60, &json!("critical"))
    );
}

#[sqlx::test(migrations = false)]
async fn what_is_answered_after_a_decision_or_a_skip_tells_nothing(pool: PgPool) {
    let app = start(pool).await;
    // Two people must agree: an ordinary review goes on after the first decision, and a known answer does not.
    app.policy("rude", 2, &["hate"], true).await;
    let lead = app.member(app.tenant.team).await;
    set(&lead, &app, json!({ "golden_every": 5 })).await;
    app.golden_always().await;
    for author in ["ada", "bob"] {
        app.known(&lead, author, "hate").await;
    }
    for action in ["decision", "skip", "escalate"] {
        let moderator = app.moderator().await;
        // What the person before left would come first.
        sqlx::query("delete from reviews")
            .execute(&app.pool)
            .await
            .unwrap();
        app.doubtful("dan", "hate").await;
        let first = claim_one(&moderator).await;
        decide(&moderator, &first, json!({ "decision": "approve" })).await;
        app.end_holds().await;
        app.doubtful("cyd", "hate").await;
        let reviews = claim(&moderator, 2).await;
        let mut seen = Vec::new();
        for review in &reviews {
            let kind = app.kind_of(review).await;
            let id = review["id"].as_str().unwrap();
            let before = waiting(&moderator).await;
            let body = match action {
                "decision" => json!({ "decision": "reject", "reason": "No." }),
                _ => json!({}),
            };
            let path = format!("/reviews/{id}/{action}");
            let mut answers = vec![likeness(&moderator.post(&path, body.clone()).await)];
            let passed_on = before - waiting(&moderator).await;
            app.end_holds().await;
            for (method, action, body) in [
                ("GET", "", ""),
                ("GET", "/preview", ""),
                ("POST", "/renew", ""),
                ("POST", "/skip", ""),
                ("POST", "/unveil", ""),
                ("POST", "/escalate", "{}"),
                ("POST", "/decision", r#"{"decision":"approve"}"#),
                ("DELETE", "/decision", ""),
            ] {
                let path = format!("/reviews/{id}{action}");
                answers.push(likeness(&moderator.send(method, &path, body).await));
            }
            seen.push((kind, passed_on, answers));
        }
        seen.sort_by(|one, other| one.0.cmp(&other.0));
        let [(one, passed_on, answers), (other, also_passed_on, others)] = &seen[..] else {
            panic!("{action}: {seen:?}");
        };
        assert_eq!((one.as_str(), other.as_str()), ("golden", "review"));
        assert_eq!(passed_on, also_passed_on, "{action}");
        for (answer, other) in answers.iter().zip(others) {
            assert_eq!(answer, other, "{action}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn who_passes_a_known_answer_on_gets_others_later_but_not_the_same(pool: PgPool) {
    let app = start(pool).await;
    let (lead, moderator) = (app.member(app.tenant.team).await, app.moderator().await);
    set(&lead, &app, json!({ "golden_every": 5 })).await;
    app.golden_always().await;
    let mut known = vec![
        app.known(&lead, "ada", "hate").await,
        app.known(&lead, "bob", "hate").await,
    ];
    let mut seen = Vec::new();
    for author in ["cyd", "dan", "eve", "fay"] {
        app.doubtful(author, "hate").await;
        for review in claim(&moderator, 5).await {
            let id = review["id"].as_str().unwrap();
            if app.kind_of(&review).await == "golden" {
                let media: Uuid = sqlx::query_scalar(
                    "select media_id from review_tasks where id = $1::text::uuid",
                )
                .bind(id)
                .fetch_one(&app.pool)
                .await
                .unwrap();
                seen.push(media.to_string());
                moderator
                    .post(&format!("/reviews/{id}/skip"), json!({}))
                    .await
                    .done();
            } else {
                decide(&moderator, id, json!({ "decision": "approve" })).await;
            }
        }
        app.end_holds().await;
    }
    seen.sort_unstable();
    known.sort_unstable();
    assert_eq!(seen, known);
}

#[sqlx::test(migrations = false)]
async fn only_what_a_machine_sent_to_a_person_can_be_a_known_answer(pool: PgPool) {
    let app = start(pool).await;
    let lead = app.member(app.tenant.team).await;
    let media = app.submitted("a").await;
    app.judge(&media, "approved".parse().unwrap()).await;
    let path = format!("/media/{media}/golden");
    let expected = json!({ "expected": "approve" });
    lead.put(&path, expected.clone())
        .await
        .problem(409, "never_in_review");
    // Somebody who decides otherwise changes nothing about what the machine said.
    let rejection = json!({ "decision": "reject", "reason": "No." });
    lead.post(&format!("/media/{media}/decision"), rejection)
        .await
        .ok();
    lead.put(&path, expected)
        .await
        .problem(409, "never_in_review");
}
