//! The list of identities under "Your account", and their end.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use super::{
    Scene,
    connecting::{connect, gets_in},
};
use crate::browser::between;

const ADA: &str = "ada@example.com";

#[sqlx::test(migrations = false)]
async fn a_person_sees_the_connections_and_disconnects_them(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let mut ada = stage.person(ADA, Role::Viewer).await;
    connect(&scene.provider, &mut ada, "ada.there").await;
    let page = ada.get("/account").await.text;
    let row = between(&page, "id=\"identities\"", "</section>");
    assert!(
        row.contains("Acme") && row.contains("ada.there@example.com"),
        "{row}"
    );
    assert!(row.contains("not yet"), "nobody has signed in there: {row}");

    let mut there = gets_in(&scene.provider, stage, "ada.there").await.unwrap();
    let page = ada.get("/account").await.text;
    let row = between(&page, "id=\"identities\"", "</section>");
    assert!(!row.contains("not yet"), "{row}");
    let path = between(row, "action=\"", "\"").to_owned();

    // Another person's connection is as unknown as nobody's.
    let mut bob = stage.person("bob@example.com", Role::Viewer).await;
    assert_eq!(bob.post(&path, "").await.status, StatusCode::NOT_FOUND);

    assert_eq!(
        ada.post(&path, "").await.leads_to(),
        "/account?done=disconnected"
    );
    assert_eq!(stage.last("identity.delete").await.0, ADA);
    assert_eq!(there.get("/account").await.leads_to(), "/sign-in");
    assert!(gets_in(&scene.provider, stage, "ada.there").await.is_none());
    let page = ada.get("/account").await.text;
    assert!(!page.contains("id=\"identities\"") && page.contains("Connect"));
}

#[sqlx::test(migrations = false)]
async fn the_last_way_in_stays(pool: PgPool) {
    let scene = Scene::new(pool.clone()).await;
    let roles = [scene.role(Role::Viewer)];
    let mut browser = scene.stage.browser();
    let now = chrono::Utc::now().timestamp();
    let claims = serde_json::json!({ "auth_time": now });
    scene.provider.set(|state| state.claims = claims);
    scene.sign_on(&mut browser, "ada", &roles).await;
    let page = browser.get("/account").await.text;
    assert!(
        page.contains("Without a connection you could not sign in"),
        "{page}"
    );
    let identity: uuid::Uuid = sqlx::query_scalar("select id from identities")
        .fetch_one(&pool)
        .await
        .unwrap();
    let path = format!("/account/identities/{identity}/disconnect");
    let refused = browser.post(&path, "").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(scene.count("identities").await, 1);
}

/// A password gives none of the provider's roles, but the person can connect the account with the provider again.
#[sqlx::test(migrations = false)]
async fn who_had_only_the_provider_comes_back_to_it_after_a_new_password(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let stage = &scene.stage;
    let roles = [scene.role(Role::Viewer)];
    scene.sign_on(&mut stage.browser(), "ada", &roles).await;
    let by = management::Caller::command_line(&stage.management);
    let email = ADA.parse().unwrap();
    let link = management::people::password_resets::create_of(&by, &email);
    let link = format!("/links/{}", link.await.unwrap().secret.expose());
    let form = "password=gravel+lantern+moth";
    stage.browser().post(&link, form).await.leads_to();
    assert!(gets_in(&scene.provider, stage, "ada").await.is_none());

    let mut ada = stage.browser();
    let entered = ada.post("/sign-in", &format!("email={ADA}&{form}")).await;
    assert_eq!(entered.leads_to(), "/");
    let team = format!("/t/{}/overview", stage.team);
    assert_eq!(ada.get(&team).await.status, StatusCode::NOT_FOUND);
    connect(&scene.provider, &mut ada, "ada").await;
    let mut browser = stage.browser();
    scene.sign_on(&mut browser, "ada", &roles).await;
    assert_eq!(browser.get(&team).await.status, StatusCode::OK);
}
