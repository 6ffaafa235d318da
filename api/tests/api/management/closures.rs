//! Closures: what they refuse, and what they make others refuse.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Caller, document::assert_answers};
use crate::app::{App, Tenant};

const SUBMIT: &str = "/functions/v1/submit-media";
const STATUS: &str = "/functions/v1/get-media-status";

impl Caller<'_> {
    async fn close(&self, wanted: Value) -> Value {
        let begun = self.post("/closures", wanted).await;
        assert_eq!(begun.status, 202, "{begun:?}");
        begun.json()
    }

    async fn cancel_closure(&self, closure: &Value) -> Value {
        let path = format!("/closures/{}/cancel", closure["id"].as_str().unwrap());
        self.post(&path, json!({})).await.ok()
    }
}

async fn execute(app: &App, statement: &'static str) {
    sqlx::query(statement).execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_closure_names_a_site_or_a_team_with_its_exact_name(pool: PgPool) {
    let app = App::start(pool).await;
    // Nobody works here.
    app.leaves(store::jobs::CLOSURES);
    let owner = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await;
    let (site, team) = (app.tenant.site, app.tenant.team);
    for (wanted, field, told) in [
        (json!({ "name": "main" }), "site_id", "team_id is required"),
        (
            json!({ "name": "main", "site_id": site, "team_id": team }),
            "team_id",
            "cannot be given with site_id",
        ),
        (
            json!({ "name": "Main", "site_id": site }),
            "name",
            "exact name of the site",
        ),
        (
            json!({ "name": "main ", "team_id": team }),
            "name",
            "exact name of the team",
        ),
        (
            json!({ "name": "other", "site_id": other.site }),
            "site_id",
            "is no site",
        ),
        (
            json!({ "name": "other", "team_id": other.team }),
            "team_id",
            "is no team",
        ),
        (
            json!({ "name": "main", "site_id": site, "grace_days": 366 }),
            "grace_days",
            "from 0 to 365",
        ),
    ] {
        let answer = owner.post("/closures", wanted.clone()).await;
        let problem = answer.problem(400, "invalid_request");
        let fault = &problem["errors"][0];
        assert_eq!(fault["field"], field, "{wanted}: {problem}");
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains(told), "{wanted}: {message}");
    }
    assert_eq!(app.count("select count(*) from closures").await, 0);

    let closure = owner
        .close(json!({ "name": "main", "site_id": site }))
        .await;
    assert_answers("POST", "/closures", &closure);
    assert_eq!(closure["state"], "grace");
    let path = format!("/closures/{}", closure["id"].as_str().unwrap());
    assert_eq!(owner.get(&path).await.ok(), closure);
    let list = owner.get("/closures").await.ok();
    assert_eq!(list["data"], json!([closure]));
    // It has not failed.
    let resumed = owner.post(&format!("{path}/resume"), json!({})).await;
    assert_eq!(resumed.ok(), closure);
    let cancelled = owner.cancel_closure(&closure).await;
    assert_eq!(cancelled["state"], "cancelled");
    // A second time, it stays as it is, and nothing is recorded.
    assert_eq!(owner.cancel_closure(&closure).await, cancelled);
    let recorded =
        "select count(*) from audit_log where action in ('closure.create', 'closure.cancel')";
    assert_eq!(app.count(recorded).await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_site_that_is_being_closed_takes_nothing_and_is_not_changed(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(store::jobs::CLOSURES);
    let owner = app.member(app.tenant.team).await;
    let media = app.submitted("before").await;
    let site = app.tenant.site;
    let closure = owner
        .close(json!({ "name": "main", "site_id": site }))
        .await;
    // The process has the site in its cache.
    let submission = json!({ "api_key": app.tenant.key, "body": "after" });
    app.post(SUBMIT, &submission)
        .await
        .problem(403, "site_closed");
    assert_eq!(app.count("select count(*) from media").await, 1);
    // What was submitted before is still shown.
    let query = json!({ "api_key": app.tenant.key, "media_id": media });
    app.post(STATUS, &query).await.ok();
    let export = closure["sites"][0]["export_id"].as_str().unwrap();
    let archive = owner.get(&format!("/exports/{export}/archive")).await;
    assert_eq!(archive.status, 200, "{archive:?}");

    let group: Uuid = sqlx::query_scalar("select default_rule_group_id from sites where id = $1")
        .bind(site.as_uuid())
        .fetch_one(&app.pool)
        .await
        .unwrap();
    let changes = async |told: &str| {
        let path = format!("/sites/{site}");
        let answers = [
            owner.patch(&path, json!({ "name": "again" })).await,
            owner.post(&format!("{path}/keys"), json!({})).await,
            owner.post(&format!("{path}/keys/rotate"), json!({})).await,
            owner
                .post(
                    &format!("{path}/webhook-endpoints"),
                    json!({ "url": "https://example.com/hook" }),
                )
                .await,
            owner
                .post(&format!("{path}/webhook-secret/rotate"), json!({}))
                .await,
            owner
                .send("PUT", &format!("{path}/rule-groups/{group}"), "")
                .await,
            owner
                .patch(&format!("{path}/desk"), json!({ "undo_seconds": 1 }))
                .await,
        ];
        for (place, answer) in answers.iter().enumerate() {
            let problem = answer.problem(409, "closing");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(told), "{place}: {detail}");
        }
    };
    let cancel = format!("cancel the closure {}", closure["id"].as_str().unwrap());
    changes(&cancel).await;
    let shown = owner.get(&format!("/sites/{site}")).await.ok();
    assert_eq!(shown["closure_id"], closure["id"]);
    // A hold can still be needed.
    let hold = json!({ "site_id": site, "reason": "A case." });
    owner.post("/legal-holds", hold.clone()).await.created();

    execute(&app, "update sites set closed_at = now()").await;
    execute(&app, "update closures set phase = 'erase'").await;
    changes("The site is closed.").await;
    owner
        .post("/legal-holds", hold)
        .await
        .problem(409, "closing");
    let cancel = format!("/closures/{}/cancel", closure["id"].as_str().unwrap());
    owner.post(&cancel, json!({})).await.problem(409, "closing");
    assert_eq!(owner.get("/sites").await.ok()["data"], json!([]));
    owner.get(&format!("/sites/{site}")).await.ok();
}

#[sqlx::test(migrations = false)]
async fn a_cancelled_closure_opens_the_site_again(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(store::jobs::CLOSURES);
    let owner = app.member(app.tenant.team).await;
    let closure = owner
        .close(json!({ "name": "main", "team_id": app.tenant.team }))
        .await;
    let submission = json!({ "api_key": app.tenant.key, "body": "a text" });
    app.post(SUBMIT, &submission)
        .await
        .problem(403, "site_closed");
    let group = owner.get("/rule-groups").await.ok()["data"][0]["id"].clone();
    let site = json!({ "name": "new", "default_rule_group_id": group });
    let refused = owner.post("/sites", site.clone()).await;
    let problem = refused.problem(409, "closing");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("The team is being closed"), "{detail}");
    owner.cancel_closure(&closure).await;
    app.post(SUBMIT, &submission).await.ok();
    owner.post("/sites", site).await.created();
}

#[sqlx::test(migrations = false)]
async fn a_legal_hold_refuses_a_closure_and_is_named(pool: PgPool) {
    let app = App::start(pool).await;
    let owner = app.member(app.tenant.team).await;
    let hold = json!({ "site_id": app.tenant.site, "reason": "A case." });
    let hold = owner.post("/legal-holds", hold).await.created();
    for wanted in [
        json!({ "name": "main", "site_id": app.tenant.site }),
        json!({ "name": "main", "team_id": app.tenant.team }),
    ] {
        let refused = owner.post("/closures", wanted).await;
        let problem = refused.problem(409, "legal_hold");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(hold["id"].as_str().unwrap()), "{detail}");
    }
    let closed = "select count(*) from sites where closure_id is not null";
    assert_eq!(app.count(closed).await, 0);
}

#[sqlx::test(migrations = false)]
async fn in_a_closed_team_things_are_read_and_not_changed(pool: PgPool) {
    let app = App::start(pool).await;
    let owner = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await;
    sqlx::query("update teams set closed_at = now() where id = $1")
        .bind(app.tenant.team.as_uuid())
        .execute(&app.pool)
        .await
        .unwrap();
    let token = json!({ "name": "new", "scopes": ["sites:read"] });
    for answer in [
        owner.post("/tokens", token.clone()).await,
        owner.post("/plans", json!({ "name": "new" })).await,
        owner
            .patch(
                &format!("/teams/{}", app.tenant.team),
                json!({ "name": "new" }),
            )
            .await,
    ] {
        let problem = answer.problem(409, "closing");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("The team is closed."), "{detail}");
    }
    for path in ["/closures", "/erasures", "/audit-log", "/sites"] {
        owner.get(path).await.ok();
    }
    let others = app.member(other.team).await;
    others.post("/tokens", token).await.created();
}

#[sqlx::test(migrations = false)]
async fn a_team_has_a_thousand_closures_at_most(pool: PgPool) {
    let app = App::start(pool).await;
    let owner = app
        .caller(Some(app.tenant.team), &[Scope::ClosuresWrite])
        .await;
    execute(
        &app,
        "insert into closures (id, team_id, state, erase_at, ended_at)
         select gen_random_uuid(), id, 'cancelled', now(), now() from teams, generate_series(1, 1000)",
    )
    .await;
    owner
        .post(
            "/closures",
            json!({ "name": "main", "site_id": app.tenant.site }),
        )
        .await
        .problem(409, "limit_reached");
}
