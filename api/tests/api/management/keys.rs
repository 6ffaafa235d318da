//! Site keys.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::document::assert_answers;
use crate::{
    app::{App, SUBMIT, Tenant},
    client::Answer,
};

impl App {
    fn keys_path(&self) -> String {
        format!("/sites/{}/keys", self.tenant.site)
    }

    async fn submit_with(&self, key: &Value) -> Answer {
        self.post(SUBMIT, &json!({ "api_key": key, "body": "hello" }))
            .await
    }
}

#[sqlx::test(migrations = false)]
async fn a_new_key_is_shown_once_and_works_beside_the_old_one(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let answer = member.post(&app.keys_path(), json!({})).await;
    let issued = answer.created();
    assert_answers("POST", "/sites/{site_id}/keys", &issued);
    let secret = issued["secret"].as_str().unwrap();
    assert!(secret.starts_with("site_") && secret.ends_with(issued["hint"].as_str().unwrap()));
    for key in [&json!(app.tenant.key), &issued["secret"]] {
        app.submit_with(key).await.ok();
    }

    let path = format!("{}/{}", app.keys_path(), issued["id"].as_str().unwrap());
    let shown = member.get(&path).await;
    assert_answers("GET", "/sites/{site_id}/keys/{key_id}", &shown.ok());
    let list = member.get(&app.keys_path()).await;
    assert_answers("GET", "/sites/{site_id}/keys", &list.ok());
    assert_eq!(list.ok()["data"].as_array().unwrap().len(), 2);
    assert_eq!(list.ok()["data"][1], shown.ok());
    let log = member.get("/audit-log?action=key.create").await;
    assert_eq!(log.ok()["data"][0]["target_id"], issued["id"]);
    let details = &log.ok()["data"][0]["details"];
    assert_eq!(*details, json!({ "created": shown.ok() }));
    for answer in [shown, list, log] {
        assert!(!answer.body.contains(secret), "{}", answer.body);
    }
}

#[sqlx::test(migrations = false)]
async fn a_rotated_key_is_refused_at_once_and_the_new_one_works(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let second = member.post(&app.keys_path(), json!({})).await.created();
    for key in [&json!(app.tenant.key), &second["secret"]] {
        // So that everything that remembers keys does.
        app.submit_with(key).await.ok();
    }
    let path = format!("{}/rotate", app.keys_path());
    let new = member.post(&path, json!({})).await.created();
    assert_answers("POST", "/sites/{site_id}/keys/rotate", &new);
    for key in [&json!(app.tenant.key), &second["secret"]] {
        app.submit_with(key).await.problem(401, "invalid_api_key");
    }
    app.submit_with(&new["secret"]).await.ok();
    let list = member.get(&app.keys_path()).await.ok();
    let enabled: Vec<_> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["disabled_at"].is_null())
        .map(|key| key["id"].clone())
        .collect();
    assert_eq!(enabled, [new["id"].clone()]);
    let log = member.get("/audit-log?action=key.rotate").await.ok();
    assert_eq!(log["data"][0]["target_id"], new["id"]);
}

#[sqlx::test(migrations = false)]
async fn a_disabled_key_is_refused_at_once_and_disabled_once(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let issued = member.post(&app.keys_path(), json!({})).await.created();
    app.submit_with(&issued["secret"]).await.ok();
    let path = format!("{}/{}", app.keys_path(), issued["id"].as_str().unwrap());
    for _ in 0..2 {
        member.delete(&path).await.done();
    }
    app.submit_with(&issued["secret"])
        .await
        .problem(401, "invalid_api_key");
    app.submit_with(&json!(app.tenant.key)).await.ok();
    assert!(member.get(&path).await.ok()["disabled_at"].is_string());
    let log = member.get("/audit-log?action=key.disable").await.ok();
    assert_eq!(log["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        log["data"][0]["details"],
        json!({ "site_id": app.tenant.site, "hint": issued["hint"] })
    );
}

#[sqlx::test(migrations = false)]
async fn another_sites_key_does_not_exist_even_in_the_same_team(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let other = Tenant::create(&app.pool, "other").await;
    let theirs = format!("/sites/{}/keys", other.site);
    let theirs = operator.get(&theirs).await.ok()["data"][0]["id"].clone();
    let path = format!("{}/{}", app.keys_path(), theirs.as_str().unwrap());
    for answer in [operator.get(&path).await, operator.delete(&path).await] {
        answer.problem(404, "not_found");
    }
    app.submit_with(&json!(other.key)).await.ok();
}
