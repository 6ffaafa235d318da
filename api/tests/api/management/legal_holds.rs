//! Legal holds.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::document::assert_answers;
use crate::app::{App, Tenant};

const SUBMIT: &str = "/functions/v1/submit-media";

#[sqlx::test(migrations = false)]
async fn a_hold_is_created_read_listed_and_lifted(pool: PgPool) {
    let app = App::start(pool).await;
    let admin = app.member(app.tenant.team).await;
    let site = app.tenant.site.to_string();
    let body = json!({ "api_key": app.tenant.key, "body": "a text" });
    let media = app.post(SUBMIT, &body).await.ok()["id"].clone();
    let mut holds = Vec::new();
    for (media, author) in [
        (json!(null), json!(null)),
        (media, json!(null)),
        (json!(null), json!("zoe@example.org")),
    ] {
        let mut new = json!({ "site_id": site, "reason": "Case 7." });
        for (name, value) in [("media_id", &media), ("author", &author)] {
            if !value.is_null() {
                new[name] = value.clone();
            }
        }
        let hold = admin.post("/legal-holds", new).await.created();
        assert_answers("POST", "/legal-holds", &hold);
        let shown = [
            ("team_id", json!(app.tenant.team)),
            ("site_id", json!(site)),
            ("media_id", media),
            ("author", author),
            ("reason", json!("Case 7.")),
            ("lifted_at", json!(null)),
        ];
        for (name, value) in shown {
            assert_eq!(hold[name], value, "{name}");
        }
        let path = format!("/legal-holds/{}", hold["id"].as_str().unwrap());
        assert_eq!(admin.get(&path).await.ok(), hold);
        holds.push(hold);
    }
    let list = format!("/legal-holds?site_id={site}");
    assert_eq!(admin.get(&list).await.ok()["data"], json!(holds));
    let other = format!("/legal-holds?site_id={}", uuid::Uuid::now_v7());
    assert_eq!(admin.get(&other).await.ok()["data"], json!([]));

    let lift = format!("/legal-holds/{}/lift", holds[1]["id"].as_str().unwrap());
    let lifted = admin.post(&lift, json!({})).await.ok();
    assert!(lifted["lifted_at"].is_string(), "{lifted}");
    // A second time, it stays as it is, and nothing is recorded.
    assert_eq!(admin.post(&lift, json!({})).await.ok(), lifted);
    holds[1] = lifted;
    assert_eq!(admin.get("/legal-holds").await.ok()["data"], json!(holds));
    let log = admin.get("/audit-log").await.ok();
    let actions: Vec<&Value> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["action"])
        .collect();
    assert_eq!(
        actions,
        ["hold.lift", "hold.create", "hold.create", "hold.create"]
    );
    assert!(!log.to_string().contains("zoe@example.org"), "{log}");
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_holds_are_named(pool: PgPool) {
    let app = App::start(pool).await;
    let admin = app.member(app.tenant.team).await;
    let site = app.tenant.site.to_string();
    let body = json!({ "api_key": app.tenant.key, "body": "a text" });
    let media = app.post(SUBMIT, &body).await.ok()["id"].clone();
    let other = Tenant::create(&app.pool, "other").await;
    let nobodys = uuid::Uuid::now_v7();
    for (wrong, field) in [
        (json!({ "site_id": other.site, "reason": "a" }), "site_id"),
        (json!({ "site_id": nobodys, "reason": "a" }), "site_id"),
        (json!({ "site_id": site, "reason": " " }), "reason"),
        (
            json!({ "site_id": site, "reason": "a", "author": "" }),
            "author",
        ),
        (
            json!({ "site_id": site, "reason": "a", "media_id": nobodys }),
            "media_id",
        ),
        (
            json!({ "site_id": site, "reason": "a", "media_id": media, "author": "zoe@example.org" }),
            "author",
        ),
    ] {
        admin
            .post("/legal-holds", wrong)
            .await
            .blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_team_has_a_bounded_number_of_holds_in_force(pool: PgPool) {
    let app = App::start(pool).await;
    let admin = app.member(app.tenant.team).await;
    sqlx::query(
        "insert into legal_holds (id, team_id, site_id, reason)
         select gen_random_uuid(), team_id, id, 'a' from sites, generate_series(1, 1000) where id = $1",
    )
    .bind(app.tenant.site.as_uuid())
    .execute(&app.pool)
    .await
    .unwrap();
    let new = json!({ "site_id": app.tenant.site, "reason": "a" });
    admin
        .post("/legal-holds", new.clone())
        .await
        .problem(409, "limit_reached");
    sqlx::query(
        "update legal_holds set lifted_at = now() where id = (select min(id::text)::uuid from legal_holds)",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    admin.post("/legal-holds", new).await.created();
}

#[sqlx::test(migrations = false)]
async fn holds_have_scopes_of_their_own(pool: PgPool) {
    let app = App::start(pool).await;
    let team = Some(app.tenant.team);
    let new = json!({ "site_id": app.tenant.site, "reason": "a" });
    let reader = app
        .caller(team, &[Scope::HoldsRead, Scope::SitesWrite])
        .await;
    reader.get("/legal-holds").await.ok();
    reader
        .post("/legal-holds", new.clone())
        .await
        .problem(403, "missing_scope");
    let writer = app.caller(team, &[Scope::HoldsWrite]).await;
    writer.post("/legal-holds", new).await.created();
    writer
        .get("/legal-holds")
        .await
        .problem(403, "missing_scope");
}
