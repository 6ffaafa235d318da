//! Answers that sign nobody in: of another browser, used before, and with tokens that cannot be trusted.

use domain::role::Role;
use poem::http::StatusCode;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    Scene,
    provider::{How, Signing},
    signs_in,
};

#[sqlx::test(migrations = false)]
async fn an_answer_counts_once_and_in_the_browser_that_asked(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut browser = scene.stage.browser();
    scene.provider.expect("ada", &[scene.role(Role::Viewer)]);
    let back = scene.go(&mut browser, "/sign-on").await;

    // An attacker's answer in a victim's browser: with no attempt, and with one of its own.
    let mut victim = scene.stage.browser();
    assert_eq!(
        victim.get(&back).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    scene.go(&mut victim, "/sign-on").await;
    let refused = victim.get(&back).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("was not begun in this browser"));
    assert!(!signs_in(&victim));

    // The code of one attempt with the state of another.
    let mut third = scene.stage.browser();
    let other = scene.go(&mut third, "/sign-on").await;
    let state = |back: &str| {
        back.split("state=")
            .nth(1)
            .unwrap()
            .split('&')
            .next()
            .unwrap()
            .to_owned()
    };
    let mixed = back.replace(&state(&back), &state(&other));
    assert_eq!(
        third.get(&mixed).await.status,
        StatusCode::BAD_GATEWAY,
        "PKCE"
    );
    assert!(!signs_in(&third));
    assert_eq!(scene.count("users").await, 0);

    let kept = browser.attempt.clone();
    assert_eq!(browser.get(&back).await.leads_to(), "/");
    let mut replay = scene.stage.browser();
    replay.attempt = kept;
    assert_eq!(
        replay.get(&back).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert!(!signs_in(&replay));
    assert_eq!(scene.count("sessions").await, 1);
}

#[sqlx::test(migrations = false)]
async fn what_the_provider_refuses_is_told_and_another_issuer_is_not_believed(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut browser = scene.stage.browser();
    scene.provider.expect("ada", &[scene.role(Role::Viewer)]);
    let back = scene.go(&mut browser, "/sign-on").await;
    let denied = format!("{back}&error=access_denied&error_description=%3Cscript%3E");
    let kept = browser.attempt.clone();
    let page = browser.get(&denied).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.text.contains("did not let you in") && !page.text.contains("<script>"));
    for wrong in [
        back.split("&iss=").next().unwrap().to_owned(),
        format!(
            "{}&iss=https%3A%2F%2Fevil.example",
            back.split("&iss=").next().unwrap()
        ),
        back.replace("code=code-", "code=other-"),
        back.replace("code=code-0", "code="),
    ] {
        browser.attempt.clone_from(&kept);
        assert_eq!(
            browser.get(&wrong).await.status,
            StatusCode::BAD_GATEWAY,
            "{wrong}"
        );
    }
    assert!(!signs_in(&browser));
}

#[sqlx::test(migrations = false)]
async fn a_token_that_cannot_be_trusted_signs_nobody_in(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let now = chrono::Utc::now().timestamp();
    let well = Signing::Well;
    let wrong: Vec<(Signing, Value)> = vec![
        (well, json!({ "nonce": "of another attempt" })),
        (well, json!({ "nonce": null })),
        (well, json!({ "aud": "another client" })),
        (well, json!({ "aud": ["gatehouse", "another"] })),
        (well, json!({ "aud": null })),
        (well, json!({ "azp": "another client" })),
        (well, json!({ "iss": "https://evil.example" })),
        (
            well,
            json!({ "iss": [scene.provider.issuer, "https://evil.example"] }),
        ),
        (well, json!({ "exp": now - 120 })),
        (well, json!({ "exp": "never" })),
        (well, json!({ "exp": null })),
        (well, json!({ "nbf": now + 600 })),
        (well, json!({ "iat": now + 600 })),
        (well, json!({ "iat": null })),
        (well, json!({ "sub": null })),
        (well, json!({ "sub": "x".repeat(256) })),
        (Signing::Nothing, json!({})),
        (Signing::Secret, json!({})),
        (Signing::OtherKey, json!({})),
        (Signing::OtherKeyOfThatName, json!({})),
    ];
    for (signing, claims) in wrong {
        let mut browser = scene.stage.browser();
        scene.provider.set(|state| {
            state.signing = signing;
            state.claims = claims.clone();
        });
        let refused = scene
            .sign_on(&mut browser, "ada", &[scene.role(Role::Viewer)])
            .await;
        assert_eq!(
            refused.status,
            StatusCode::BAD_GATEWAY,
            "{signing:?} {claims}"
        );
        assert!(refused.text.contains("could not be trusted"));
        assert!(!signs_in(&browser));
    }
    assert_eq!(
        (scene.count("users").await, scene.count("identities").await),
        (0, 0)
    );
    assert_eq!(
        scene.provider.keys_read(),
        1,
        "an unknown key is looked for once a minute"
    );

    scene.provider.set(|state| {
        state.signing = well;
        state.claims = Value::Null;
    });
    let mut browser = scene.stage.browser();
    let entered = scene
        .sign_on(&mut browser, "ada", &[scene.role(Role::Viewer)])
        .await;
    assert_eq!(entered.leads_to(), "/");
}

#[sqlx::test(migrations = false)]
async fn a_person_needs_an_address_that_nobody_doubts(pool: PgPool) {
    let scene = Scene::new(pool).await;
    for claims in [
        json!({ "email": null }),
        json!({ "email": "not an address" }),
        json!({ "email_verified": false }),
    ] {
        let mut browser = scene.stage.browser();
        scene.provider.set(|state| {
            state.claims = claims.clone();
            state.about = json!({ "sub": "ada" });
        });
        let refused = scene
            .sign_on(&mut browser, "ada", &[scene.role(Role::Viewer)])
            .await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{claims}");
        assert!(
            refused.text.contains("which e-mail address you have"),
            "{claims}"
        );
    }
    assert_eq!(scene.count("users").await, 0);
    scene.provider.set(|state| state.how = How::Well);
}
