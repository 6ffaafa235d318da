//! Tokens.

mod parents;

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::app::{App, Tenant};

#[sqlx::test(migrations = false)]
async fn a_token_is_shown_once_and_works_at_once(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let request = json!({ "name": "report", "team_id": app.tenant.team, "scopes": ["teams:read", "teams:read"] });
    let answer = operator.post("/tokens", request).await;
    let issued = answer.created();
    let secret = issued["secret"].as_str().unwrap();
    assert_eq!(issued["scopes"], json!(["teams:read"]));
    assert!(secret.ends_with(issued["hint"].as_str().unwrap()));

    let holder = app.caller_with(secret);
    assert_eq!(
        holder.get("/teams").await.ok()["data"][0]["id"],
        json!(app.tenant.team)
    );
    let path = format!("/tokens/{}", issued["id"].as_str().unwrap());
    for answer in [operator.get(&path).await, operator.get("/tokens").await] {
        answer.ok();
        assert!(!answer.body.contains(secret) && answer.body.contains("report"));
    }
    let stored = "select count(*) from management_tokens t where t::text like '%mgmt%'";
    assert_eq!(app.count(stored).await, 0);
    assert_eq!(
        app.count("select count(*) from audit_log where details::text like '%mgmt%'")
            .await,
        0
    );
}

#[sqlx::test(migrations = false)]
async fn a_token_gives_no_more_than_it_has(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await.team;
    let member = app
        .caller(
            Some(app.tenant.team),
            &[Scope::TokensWrite, Scope::TeamsRead],
        )
        .await;
    let new = |scopes: Value| json!({ "name": "a", "scopes": scopes });
    let own = member
        .post("/tokens", new(json!(["teams:read"])))
        .await
        .created();
    assert_eq!(own["team_id"], json!(app.tenant.team));
    let refused = member
        .post("/tokens", new(json!(["teams:read", "teams:write"])))
        .await;
    let problem = refused.problem(403, "missing_scope");
    assert!(problem["detail"].as_str().unwrap().contains("teams:write"));

    let mut told = Vec::new();
    for team in [other.to_string(), uuid::Uuid::now_v7().to_string()] {
        let mut request = new(json!(["teams:read"]));
        request["team_id"] = team.into();
        let answer = member.post("/tokens", request).await;
        answer.blames("invalid_request", &["team_id"]);
        let mut problem = answer.json();
        problem["request_id"].take();
        told.push(problem);
    }
    assert_eq!(told[0], told[1]);

    let operator = app.caller(None, &[Scope::TokensWrite]).await;
    operator
        .post("/tokens", new(json!(["teams:read"])))
        .await
        .problem(403, "missing_scope");
    let request = json!({ "name": "a", "team_id": other, "scopes": ["tokens:write"] });
    assert_eq!(
        operator.post("/tokens", request).await.created()["team_id"],
        json!(other)
    );
    let operators = operator
        .post("/tokens", new(json!(["tokens:write"])))
        .await
        .created();
    assert_eq!(operators["team_id"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn a_token_that_cannot_be_is_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for (request, field) in [
        (json!({ "scopes": ["teams:read"] }), "name"),
        (json!({ "name": "a" }), "scopes"),
        (json!({ "name": "a", "scopes": [] }), "scopes"),
        (json!({ "name": "a", "scopes": "teams:read" }), "scopes"),
        (
            json!({ "name": "a", "scopes": ["teams:read", "*"] }),
            "scopes[1]",
        ),
        (
            json!({ "name": "a", "scopes": ["teams:read"], "expires_at": "2020-01-01T00:00:00Z" }),
            "expires_at",
        ),
        (
            json!({ "name": "a", "scopes": ["teams:read"], "expires_at": 7 }),
            "expires_at",
        ),
        (
            json!({ "name": "a", "scopes": ["teams:read"], "team_id": "x" }),
            "team_id",
        ),
        (
            json!({ "name": "a", "scopes": ["teams:read"], "expires": null }),
            "expires",
        ),
    ] {
        operator
            .post("/tokens", request)
            .await
            .blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_disabled_and_an_expired_token_end_at_once(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let member = app.member(app.tenant.team).await;
    let token = format!("/tokens/{}", member.id().await);
    member.get("/teams").await.ok();
    operator.delete(&token).await.done();
    member.get("/teams").await.problem(401, "invalid_token");
    operator.delete(&token).await.done();
    assert_eq!(app.count("select count(*) from audit_log").await, 1);
    let listed = operator.get(&token).await.ok();
    assert!(listed["disabled_at"].is_string());

    let request =
        json!({ "name": "a", "scopes": ["teams:read"], "expires_at": "2099-01-01T00:00:00Z" });
    let issued = operator.post("/tokens", request).await.created();
    assert_eq!(issued["expires_at"], "2099-01-01T00:00:00.000000Z");
    let holder = app.caller_with(issued["secret"].as_str().unwrap());
    holder.get("/teams").await.ok();
    sqlx::raw_sql("update management_tokens set expires_at = now() where expires_at is not null")
        .execute(&app.pool)
        .await
        .unwrap();
    holder.get("/teams").await.problem(401, "invalid_token");

    // A token may end itself.
    let own = app.caller(None, &[Scope::TokensWrite]).await;
    let path = format!("/tokens/{}", own.id().await);
    own.delete(&path).await.done();
    own.delete(&path).await.problem(401, "invalid_token");
}

#[sqlx::test(migrations = false)]
async fn a_scope_that_only_a_newer_version_knows_allows_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    sqlx::raw_sql("update management_tokens set scopes = '{tokens:read, sites:paint}'")
        .execute(&app.pool)
        .await
        .unwrap();
    assert_eq!(
        operator.get("/tokens").await.ok()["data"][0]["scopes"],
        json!(["tokens:read"])
    );
    operator.get("/teams").await.problem(403, "missing_scope");
}
