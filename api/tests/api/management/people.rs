//! People, invitations, sessions, and who one is.

use domain::{email::Email, role::Role, scope::Scope};
use serde_json::json;
use sqlx::PgPool;
use store::person::{
    self,
    session::{self, Origin},
};

use crate::app::App;

#[sqlx::test(migrations = false)]
async fn a_token_says_who_it_is_without_any_scope(pool: PgPool) {
    let app = App::start(pool).await;
    let nobody = app.caller(Some(app.tenant.team), &[]).await;
    let me = nobody.get("/me").await.ok();
    assert_eq!(me["id"], json!(nobody.id().await));
    assert_eq!(
        (
            &me["actor"],
            &me["team_id"],
            &me["scopes"],
            &me["expires_at"]
        ),
        (
            &json!("token"),
            &json!(app.tenant.team),
            &json!([]),
            &json!(null)
        )
    );
    let operator = app.operator().await;
    let me = operator.get("/me").await.ok();
    assert_eq!(me["team_id"], json!(null));
    assert_eq!(me["scopes"].as_array().unwrap().len(), Scope::ALL.len());
}

#[sqlx::test(migrations = false)]
async fn an_invitation_shows_its_link_once_and_is_withdrawn(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let request = json!({
        "email": "Ada@Example.com", "role": "moderator", "site_ids": [app.tenant.site],
    });
    let issued = member.post("/invitations", request).await.created();
    let secret = issued["secret"].as_str().unwrap();
    assert!(secret.starts_with("link_"));
    assert_eq!(issued["email"], json!("ada@example.com"));
    assert_eq!(issued["site_ids"], json!([app.tenant.site]));
    let listed = member.get("/invitations").await;
    assert_eq!(listed.ok()["data"].as_array().unwrap().len(), 1);
    assert!(!listed.body.contains(secret));
    let log = member.get("/audit-log?action=invitation.create").await;
    assert_eq!(
        log.ok()["data"][0]["details"]["created"]["email"],
        json!("ada@example.com")
    );
    assert!(!log.body.contains(secret));
    let path = format!("/invitations/{}", issued["id"].as_str().unwrap());
    assert_eq!(member.get(&path).await.ok(), listed.ok()["data"][0]);
    assert_eq!(member.delete(&path).await.status, 204);
    member.delete(&path).await.problem(404, "not_found");
    let listed = member.get("/invitations").await.ok();
    assert_eq!(listed["data"], json!([]));

    for (request, field) in [
        (json!({ "email": "ada", "role": "viewer" }), "email"),
        (json!({ "email": "a@b.c", "role": "king" }), "role"),
        (json!({ "email": "a@b.c", "role": "operator" }), "role"),
        (
            json!({ "email": "a@b.c", "role": "lead", "site_ids": [app.tenant.site] }),
            "site_ids",
        ),
    ] {
        let refused = member.post("/invitations", request).await;
        refused.blames("invalid_request", &[field]);
    }
    let weak = app
        .caller(Some(app.tenant.team), &[Scope::PeopleWrite])
        .await;
    let request = json!({ "email": "ada@example.com", "role": "viewer" });
    weak.post("/invitations", request)
        .await
        .problem(403, "missing_scope");
}

#[sqlx::test(migrations = false)]
async fn people_are_changed_reset_signed_out_and_disabled(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let mut tx = app.pool.begin().await.unwrap();
    let mut add = async |email: &str, role| {
        let email: Email = email.parse().unwrap();
        let name = "Ada".parse().unwrap();
        let user = person::create_account(&mut tx, &email, &name, "no hash").await;
        let user = user.unwrap().unwrap();
        let origin = Origin {
            address: "192.0.2.1",
            user_agent: "Firefox",
        };
        session::create(&mut tx, user, origin).await.unwrap();
        person::join(&mut tx, user, Some(app.tenant.team), role, None)
            .await
            .unwrap()
    };
    let owner = add("owner@example.com", Role::Owner).await;
    let viewer = add("viewer@example.com", Role::Viewer).await;
    tx.commit().await.unwrap();
    let (owner, viewer) = (format!("/people/{owner}"), format!("/people/{viewer}"));

    let change = json!({ "role": "moderator", "site_ids": [app.tenant.site] });
    let changed = member.patch(&viewer, change).await.ok();
    assert_eq!(changed["site_ids"], json!([app.tenant.site]));
    let changed = member.patch(&viewer, json!({ "role": "lead" })).await.ok();
    assert_eq!(
        (&changed["role"], &changed["site_ids"]),
        (&json!("lead"), &json!(null))
    );
    assert_eq!(member.get(&viewer).await.ok(), changed);
    member
        .patch(&owner, json!({ "role": "admin" }))
        .await
        .problem(409, "last_owner");
    member.delete(&owner).await.problem(409, "last_owner");
    let reset = member
        .post(&format!("{viewer}/password-reset"), json!({}))
        .await;
    assert!(reset.ok()["secret"].as_str().unwrap().starts_with("link_"));

    let sessions = member.get("/sessions").await.ok();
    assert_eq!(sessions["data"].as_array().unwrap().len(), 2);
    let path = format!("/sessions/{}", sessions["data"][0]["id"].as_str().unwrap());
    assert_eq!(member.delete(&path).await.status, 204);
    member.delete(&path).await.problem(404, "not_found");
    for _ in 0..2 {
        assert_eq!(member.delete(&viewer).await.status, 204);
    }
    assert!(member.get(&viewer).await.ok()["disabled_at"].is_string());
    assert_eq!(app.count("select count(*) from sessions").await, 0);

    let rules = format!("/teams/{}/sign-in", app.tenant.team);
    assert_eq!(
        member.get(&rules).await.ok(),
        json!({ "factor_required": false })
    );
    member
        .patch(&rules, json!({ "factor_required": true }))
        .await
        .ok();
    assert_eq!(
        member.get(&rules).await.ok(),
        json!({ "factor_required": true })
    );
}
