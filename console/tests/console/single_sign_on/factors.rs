//! The second factor of people who sign in at the provider, and authenticating there again before delicate changes.

use domain::role::Role;
use poem::http::StatusCode;
use serde_json::json;
use sqlx::PgPool;

use super::Scene;

#[sqlx::test(migrations = false)]
async fn several_factors_at_the_provider_are_a_second_factor_here(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let owner = [scene.role(Role::Owner)];
    for (subject, claims, leads_to) in [
        ("ada", json!({ "amr": ["pwd"] }), "/account/factor"),
        ("bob", json!({ "amr": ["otp"] }), "/account/factor"),
        (
            "cyd",
            json!({ "acr": "urn:example:gold" }),
            "/account/factor",
        ),
        ("dan", json!({ "amr": ["pwd", "otp"] }), "/"),
        ("eva", json!({ "amr": ["mfa"] }), "/"),
    ] {
        let mut browser = scene.stage.browser();
        scene.provider.set(|state| state.claims = claims);
        let entered = scene.sign_on(&mut browser, subject, &owner).await;
        assert_eq!(entered.leads_to(), leads_to, "{subject}");
        let path = format!("/t/{}/people", scene.stage.team);
        let opens = browser.get(&path).await.status == StatusCode::OK;
        assert_eq!(opens, leads_to == "/", "{subject}");
    }
    // A factor that was set up here is asked for, unless the provider has checked several.
    let mut browser = scene.stage.browser();
    let now = chrono::Utc::now().timestamp();
    scene
        .provider
        .set(|state| state.claims = json!({ "auth_time": now }));
    scene.sign_on(&mut browser, "ada", &owner).await;
    browser.set_up_factor().await;
    for (claims, leads_to) in [
        (json!({}), "/sign-in/code"),
        (json!({ "amr": ["mfa"] }), "/"),
    ] {
        scene.provider.set(|state| state.claims = claims);
        let mut browser = scene.stage.browser();
        assert_eq!(
            scene.sign_on(&mut browser, "ada", &owner).await.leads_to(),
            leads_to
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_delicate_change_asks_the_provider_again(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let viewer = [scene.role(Role::Viewer)];
    let now = || chrono::Utc::now().timestamp();
    let mut browser = scene.stage.browser();
    // The provider says that the person authenticated an hour ago.
    scene
        .provider
        .set(|state| state.claims = json!({ "auth_time": now() - 3_600 }));
    scene.sign_on(&mut browser, "ada", &viewer).await;
    let asked = browser.post("/account/factor", "").await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(
        asked.text.contains("Sign in again with Acme")
            && asked.text.contains("href=\"/sign-on/again\"")
    );
    assert!(!asked.text.contains("type=\"password\""), "there is none");

    for (subject, claims, status) in [
        ("ada", json!({ "auth_time": null }), StatusCode::BAD_GATEWAY),
        (
            "ada",
            json!({ "auth_time": now() - 3_600 }),
            StatusCode::BAD_GATEWAY,
        ),
        (
            "eve",
            json!({ "auth_time": now() }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
    ] {
        scene.provider.expect(subject, &viewer);
        scene.provider.set(|state| state.claims = claims.clone());
        let back = scene.go(&mut browser, "/sign-on/again").await;
        assert_eq!(
            browser.get(&back).await.status,
            status,
            "{subject} {claims}"
        );
        assert_eq!(
            browser.post("/account/factor", "").await.status,
            StatusCode::FORBIDDEN
        );
    }

    scene.provider.expect("ada", &viewer);
    scene
        .provider
        .set(|state| state.claims = json!({ "auth_time": now() }));
    let sent = browser.get("/sign-on/again").await;
    let address = sent.leads_to();
    assert!(address.contains("&prompt=login&max_age=0"), "{address}");
    let back = scene.provider.visit(address);
    // It counts for the session that asked, and for no other one.
    let mut other = scene.stage.browser();
    scene.sign_on(&mut other, "ada", &viewer).await;
    other.attempt.clone_from(&browser.attempt);
    assert_eq!(
        other.get(&back).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let thanks = browser.get(&back).await;
    assert_eq!(thanks.status, StatusCode::OK);
    assert!(thanks.text.contains("Close this tab"));
    assert_eq!(
        browser.post("/account/factor", "").await.status,
        StatusCode::OK
    );
}

#[sqlx::test(migrations = false)]
async fn a_fresh_sign_in_at_the_provider_is_as_a_password(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let viewer = [scene.role(Role::Viewer)];
    let now = chrono::Utc::now().timestamp();
    for (claims, status) in [
        (json!({ "auth_time": now }), StatusCode::OK),
        // No clock ahead of ours makes it last longer.
        (json!({ "auth_time": now + 86_400 }), StatusCode::OK),
        (json!({}), StatusCode::FORBIDDEN),
    ] {
        let mut browser = scene.stage.browser();
        scene.provider.set(|state| state.claims = claims.clone());
        scene.sign_on(&mut browser, "ada", &viewer).await;
        assert_eq!(
            browser.post("/account/factor", "").await.status,
            status,
            "{claims}"
        );
    }
    let ahead = "select count(*) from sessions where password_at > now()";
    let ahead: i64 = sqlx::query_scalar(ahead)
        .fetch_one(&scene.stage.management.pool)
        .await
        .unwrap();
    assert_eq!(ahead, 0);
}
