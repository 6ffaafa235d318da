//! A provider that is down, wrong, huge or slow. Passwords work all the same.

use domain::role::Role;
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;

use super::{Scene, provider::How, signs_in};
use crate::browser::PASSWORD;

#[sqlx::test(migrations = false)]
async fn while_the_provider_is_down_passwords_still_work(pool: PgPool) {
    let scene = Scene::new(pool).await;
    scene.stage.person("bob@example.com", Role::Viewer).await;
    scene.provider.set(|state| state.how = How::Down);
    let mut browser = scene.stage.browser();
    for _ in 0..2 {
        let page = browser.get("/sign-on").await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(page.text.contains("does not answer at the moment"));
        assert!(browser.attempt.is_none());
    }
    let form = format!(
        "email=bob%40example.com&password={}",
        PASSWORD.replace(' ', "+")
    );
    assert_eq!(browser.post("/sign-in", &form).await.leads_to(), "/");
}

#[sqlx::test(migrations = false)]
async fn a_provider_that_goes_down_in_between_signs_nobody_in(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut browser = scene.stage.browser();
    scene.provider.expect("ada", &[scene.role(Role::Viewer)]);
    let back = scene.go(&mut browser, "/sign-on").await;
    for (how, status) in [
        (How::Down, StatusCode::SERVICE_UNAVAILABLE),
        (How::Huge, StatusCode::BAD_GATEWAY),
        (How::Redirecting, StatusCode::BAD_GATEWAY),
    ] {
        let kept = browser.attempt.clone();
        scene.provider.set(|state| state.how = how);
        assert_eq!(browser.get(&back).await.status, status, "{how:?}");
        assert!(!signs_in(&browser));
        browser.attempt = kept;
    }
    scene.provider.set(|state| state.how = How::Well);
    assert_eq!(
        browser.get(&back).await.leads_to(),
        "/",
        "the attempt was not used up"
    );
}

#[sqlx::test(migrations = false)]
async fn a_document_of_another_issuer_or_with_open_connections_is_refused(pool: PgPool) {
    for document in [
        json!({ "issuer": "https://evil.example" }),
        json!({ "token_endpoint": "http://evil.example/token" }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
        json!({ "jwks_uri": null }),
        json!({ "jwks_uri": "not an address" }),
    ] {
        let scene = Scene::new(pool.clone()).await;
        scene
            .provider
            .set(|state| state.document = document.clone());
        let page = scene.stage.browser().get("/sign-on").await;
        assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{document}");
    }
}

#[sqlx::test(migrations = false)]
async fn huge_and_slow_answers_are_given_up(pool: PgPool) {
    // The slow one would take minutes.
    for (how, status) in [
        (How::Huge, StatusCode::BAD_GATEWAY),
        (How::Slow, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let scene = Scene::new(pool.clone()).await;
        scene.provider.set(|state| state.how = how);
        let page = scene.stage.browser().get("/sign-on").await;
        assert_eq!(page.status, status, "{how:?}");
    }
}
