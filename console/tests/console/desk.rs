//! The review desk and its policies.

use domain::{id::SiteId, role::Role, rules::RuleEffect};
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{Browser, Stage},
    items::encoded,
    seed::{HOSTILE, Judged, is_harmless, keyword},
};

/// Items that wait for a person.
async fn waiting(stage: &Stage, site: SiteId, bodies: &[&str]) {
    for body in bodies {
        let item = Judged {
            violations: vec![keyword("Contact", RuleEffect::Review, 0..1)],
            metadata: Some(json!({ "author": HOSTILE })),
            app_media_id: Some("order-7"),
            ..Judged::text(body)
        };
        stage.judged(site, item).await;
    }
}

/// Begins, and returns the path of the review.
async fn begin(stage: &Stage, person: &mut Browser) -> String {
    let started = person
        .post(&format!("/t/{}/desk/claim", stage.team), "")
        .await;
    started.leads_to().to_owned()
}

fn id(path: &str) -> &str {
    path.split(['/', '?']).nth(4).unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_moderator_decides_one_after_the_other_and_undoes(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let desk = format!("/t/{}/desk", stage.team);
    assert!(
        mo.get(&desk)
            .await
            .text
            .contains("Nothing waits for a person.")
    );
    let none = begin(&stage, &mut mo).await;
    assert!(
        mo.get(&none)
            .await
            .text
            .contains("There is nothing for you")
    );
    waiting(&stage, site, &["first <b>", "second"]).await;
    assert!(
        mo.get(&desk)
            .await
            .text
            .contains("2 items wait for a person.")
    );

    let first = begin(&stage, &mut mo).await;
    let page = mo.get(&first).await.text;
    assert!(is_harmless(&page), "{page}");
    assert!(
        page.contains("irst &#60;b&#62;") && page.contains("<mark>f</mark>"),
        "{page}"
    );
    assert!(
        page.contains("data-key=\"a\"") && page.contains("Contact"),
        "{page}"
    );
    // Which item it is would tell what has become of it.
    let media: Vec<Uuid> = sqlx::query_scalar("select id from media")
        .fetch_all(&stage.management.pool)
        .await
        .unwrap();
    for media in media {
        assert!(!page.contains(&media.to_string()), "{page}");
    }
    assert!(!page.contains("order-7"), "{page}");

    let approved = mo
        .post(&format!("{first}/decision"), "decision=approve")
        .await;
    let second = approved.leads_to().to_owned();
    assert!(
        second.contains(&format!("?decided={}&as=approve&seconds=", id(&first))),
        "{second}"
    );
    let page = mo.get(&second).await.text;
    assert!(
        page.contains("Approved.") && page.contains("econd") && page.contains("data-countdown"),
        "{page}"
    );
    let undone = mo.post(&format!("{desk}/{}/undo", id(&first)), "").await;
    assert_eq!(undone.leads_to(), format!("{desk}/{}", id(&first)));
    assert!(
        mo.get(undone.leads_to())
            .await
            .text
            .contains("irst &#60;b&#62;")
    );

    let wrong = mo
        .post(&format!("{first}/decision"), "decision=reject")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"reason-problem\""),
        "{}",
        wrong.text
    );
    let form = format!("decision=reject&reason={}", encoded(HOSTILE));
    let rejected = mo.post(&format!("{first}/decision"), &form).await;
    // The other one is still the person's.
    assert_eq!(id(rejected.leads_to()), id(&second));
    let skipped = mo.post(&format!("{desk}/{}/skip", id(&second)), "").await;
    assert!(skipped.leads_to().starts_with(&format!("{desk}?empty=yes")));
    assert_eq!(stage.recorded("review.decide").await, ["Ada", "Ada"]);
    assert_eq!(stage.recorded("review.undo").await, ["Ada"]);
    assert_eq!(stage.recorded("review.skip").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn what_is_escalated_reaches_a_lead_and_what_is_lost_leads_on(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    waiting(&stage, site, &["a", "b"]).await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let desk = format!("/t/{}/desk", stage.team);
    assert_eq!(viewer.get(&desk).await.status, StatusCode::FORBIDDEN);
    let first = begin(&stage, &mut mo).await;
    let note = format!("note={}", encoded(HOSTILE));
    mo.post(&format!("{first}/note"), &note).await.leads_to();
    let next = mo
        .post(&format!("{first}/escalate"), "note=Please+look")
        .await;
    assert_ne!(id(next.leads_to()), id(&first));
    let theirs = begin(&stage, &mut lead).await;
    assert_eq!(id(&theirs), id(&first));
    let page = lead.get(&theirs).await.text;
    assert!(
        is_harmless(&page) && page.contains("Please look") && page.contains("for leads"),
        "{page}"
    );

    // It is not the moderator's any more.
    for action in ["decision", "skip", "note", "escalate"] {
        let lost = mo
            .post(&format!("{first}/{action}"), "decision=approve&note=x")
            .await;
        assert_eq!(id(lost.leads_to()), id(next.leads_to()), "{action}");
        assert!(
            lost.leads_to().ends_with("?lost=yes"),
            "{}",
            lost.leads_to()
        );
    }
    let lost = mo.get(&first).await;
    assert_eq!(lost.leads_to(), format!("{desk}?lost=yes"));
    assert_eq!(
        mo.post(&format!("{first}/renew"), "").await.status,
        StatusCode::CONFLICT
    );
    assert_eq!(
        lead.post(&format!("{theirs}/renew"), "").await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        lead.post(&format!("{theirs}/unveil"), "").await.status,
        StatusCode::NO_CONTENT
    );
    let exposed: i64 = sqlx::query_scalar("select sum(unveiled) from review_exposures")
        .fetch_one(&stage.management.pool)
        .await
        .unwrap();
    assert_eq!(exposed, 1);
    assert_eq!(stage.recorded("review.escalate").await, ["Ada"]);
    assert_eq!(stage.recorded("note.create").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn a_lead_writes_policies_and_they_are_on_the_desk(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    waiting(&stage, site, &["a"]).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let policies = format!("/t/{}/policies", stage.team);
    assert!(
        lead.get(&policies)
            .await
            .text
            .contains("Create the first policy")
    );
    let wrong = lead
        .post(
            &format!("{policies}/new"),
            "code=A&name=&reason=&key=0&severity=x&category=rudeness",
        )
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    for field in ["code", "name", "reason", "key", "severity", "categories"] {
        assert!(
            wrong.text.contains(&format!("id=\"{field}-problem\"")),
            "{field}"
        );
    }
    let hostile = encoded(HOSTILE);
    let form = format!(
        "code=spam&name=%3Cb%3E&reason={hostile}&guideline={hostile}&key=2&severity=high&category=spam&rules=Contact%0AOther&two_people=yes"
    );
    let created = lead.post(&format!("{policies}/new"), &form).await;
    assert_eq!(
        created.leads_to(),
        format!("{policies}?done=policy-created")
    );
    let list = lead.get(&policies).await.text;
    assert!(
        list.contains("&#60;b&#62;") && list.contains("two people"),
        "{list}"
    );
    let policy: Uuid = sqlx::query_scalar("select id from review_policies")
        .fetch_one(&stage.management.pool)
        .await
        .unwrap();
    let page = format!("{policies}/{policy}");
    let shown = lead.get(&page).await.text;
    assert!(
        !shown.contains("<script>alert") && shown.contains("Contact\nOther"),
        "{shown}"
    );
    assert!(!mo.get(&page).await.text.contains("Save"));
    let taken = lead.post(&format!("{policies}/new"), &form).await;
    assert!(taken.text.contains("code-problem"), "{}", taken.text);

    let review = begin(&stage, &mut mo).await;
    let desk = mo.get(&review).await.text;
    assert!(
        is_harmless(&desk) && desk.contains("data-key=\"2\"") && desk.contains("suggested"),
        "{desk}"
    );
    let form = format!("decision=reject&policy={policy}");
    mo.post(&format!("{review}/decision"), &form)
        .await
        .leads_to();

    let other = "code=other&name=Other&reason=Because&severity=low";
    let saved = lead
        .post(&page, &format!("{other}&seen=0123456789abcdef"))
        .await;
    assert_eq!(saved.status, StatusCode::CONFLICT, "{}", saved.text);
    assert!(saved.text.contains("Nothing was saved"), "{}", saved.text);
    lead.post(&page, other).await.leads_to();
    let wrong = lead.post(&format!("{page}/delete"), "typed=spam").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let deleted = lead.post(&format!("{page}/delete"), "typed=other").await;
    assert_eq!(
        deleted.leads_to(),
        format!("{policies}?done=policy-deleted")
    );
    assert_eq!(lead.get(&page).await.status, StatusCode::NOT_FOUND);
    for action in ["policy.create", "policy.update", "policy.delete"] {
        assert_eq!(stage.recorded(action).await, ["Ada"], "{action}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_site_has_a_page_for_the_desk(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let page = format!("/t/{}/sites/{site}/desk", stage.team);
    let shown = lead.get(&page).await.text;
    assert!(
        shown.contains("name=\"undo_seconds\" type=\"number\" value=\"10\""),
        "{shown}"
    );
    let form = |undo: &str| {
        format!(
            "critical_minutes=5&high_minutes=6&normal_minutes=7&low_minutes=8&undo_seconds={undo}&audit_percent=9&golden_every="
        )
    };
    let wrong = lead.post(&page, &form("61")).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("undo_seconds-problem"),
        "{}",
        wrong.text
    );
    let saved = lead.post(&page, &form("0")).await;
    assert_eq!(saved.leads_to(), format!("{page}?done=saved"));
    assert!(lead.get(&page).await.text.contains("value=\"9\""));
    assert_eq!(stage.recorded("desk.update").await, ["Ada"]);
}

/// Makes the decisions of the next slice, as the workers do.
async fn decide_slice(stage: &Stage) {
    let pool = &stage.management.pool;
    let running: Uuid = sqlx::query_scalar("select id from bulk_decisions where state = 'running'")
        .fetch_one(pool)
        .await
        .unwrap();
    let slice = store::bulk_decision::slice::next(pool, running.into()).await;
    let slice = slice.unwrap().unwrap();
    let survivor = queue::Survivor {
        job: queue::JobId(1),
        attempt: 1,
        effect: &slice,
    };
    let mut db = pool.begin().await.unwrap();
    let mut tx = queue::FinishTx {
        conn: &mut db,
        jobs: queue::NewJobs::new(),
    };
    queue::Effect::apply(&[survivor], &mut tx).await.unwrap();
    db.commit().await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_lead_decides_about_many_at_once_and_undoes(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let hostile = format!("x{HOSTILE}");
    waiting(&stage, site, &["first <b>", &hostile]).await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let desk = format!("/t/{}/desk", stage.team);
    let bulk = format!("{desk}/bulk");
    assert!(!mo.get(&desk).await.text.contains("Many at once"));
    assert_eq!(mo.get(&bulk).await.status, StatusCode::FORBIDDEN);
    assert!(lead.get(&desk).await.text.contains("Many at once"));

    let none = lead.get(&format!("{bulk}?rule=Other")).await.text;
    assert!(none.contains("No review matches"), "{none}");
    let wrong = lead
        .get(&format!("{bulk}?author={}", "x".repeat(201)))
        .await;
    assert!(wrong.text.contains("author-problem"), "{}", wrong.text);
    let page = lead
        .get(&format!("{bulk}?rule=Contact&site={site}"))
        .await
        .text;
    assert!(
        is_harmless(&page) && page.contains("2 reviews match") && page.contains("irst &#60;b&#62;"),
        "{page}"
    );
    let unveil = format!("{bulk}/unveil");
    assert_eq!(mo.post(&unveil, "").await.status, StatusCode::FORBIDDEN);
    assert_eq!(lead.post(&unveil, "").await.status, StatusCode::NO_CONTENT);
    let unveiled: i64 = sqlx::query_scalar("select sum(unveiled) from review_exposures")
        .fetch_one(&stage.management.pool)
        .await
        .unwrap();
    assert_eq!(unveiled, 1);

    let nothing = lead.post(&bulk, "decision=approve").await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        nothing.text.contains("Nothing is ticked"),
        "{}",
        nothing.text
    );
    let reviews: Vec<Uuid> = sqlx::query_scalar("select id from review_tasks order by id")
        .fetch_all(&stage.management.pool)
        .await
        .unwrap();
    let ticked = format!("review={}&review={}", reviews[0], reviews[1]);
    let wrong = lead.post(&bulk, &format!("decision=reject&{ticked}")).await;
    assert!(wrong.text.contains("reason-problem"), "{}", wrong.text);

    let form = format!("decision=reject&reason={}&{ticked}", encoded(HOSTILE));
    let started = lead.post(&bulk, &form).await.leads_to().to_owned();
    assert!(started.starts_with(&format!("{bulk}/")), "{started}");
    let page = lead.get(&started).await.text;
    assert!(is_harmless(&page) && page.contains("running"), "{page}");
    decide_slice(&stage).await;
    let page = lead.get(&started).await.text;
    assert!(
        page.contains("finished") && page.contains("<dd>2</dd>"),
        "{page}"
    );
    let undone = lead.post(&format!("{started}/undo"), "").await;
    assert_eq!(undone.leads_to(), format!("{started}?done=bulk-undone"));
    let held: i64 = sqlx::query_scalar("select count(*) from review_opinions")
        .fetch_one(&stage.management.pool)
        .await
        .unwrap();
    assert_eq!(held, 0);
    assert!(lead.get(&bulk).await.text.contains("2 reviews match"));
    assert_eq!(stage.recorded("bulk_decision.create").await, ["Ada"]);
    assert_eq!(stage.recorded("bulk_decision.cancel").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn all_that_match_are_decided_after_their_number_was_typed(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    waiting(&stage, site, &["text"; 51]).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    let bulk = format!("/t/{}/desk/bulk", stage.team);
    let page = lead.get(&format!("{bulk}?rule=Contact")).await.text;
    assert!(
        page.contains("51 reviews match, the 50 most urgent ones are shown")
            && page.contains("Type <code>51</code>"),
        "{page}"
    );
    let form =
        |typed: &str| format!("decision=approve&rule=Contact&all=yes&count=51&typed={typed}");
    let wrong = lead.post(&bulk, &form("50")).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("typed-problem"), "{}", wrong.text);
    waiting(&stage, site, &["late"]).await;
    let more = lead.post(&bulk, &form("51")).await;
    assert!(
        more.text.contains("More reviews match than the 51")
            && more.text.contains("Type <code>52</code>"),
        "{}",
        more.text
    );
    let form = form("52").replace("count=51", "count=52");
    let started = lead.post(&bulk, &form).await.leads_to().to_owned();
    decide_slice(&stage).await;
    let page = lead.get(&started).await.text;
    assert!(page.contains("<dd>52</dd>"), "{page}");
}
