//! What protects people who use the console.

use domain::{id::TeamId, role::Role};
use poem::http::{Method, StatusCode, header};
use sqlx::PgPool;

use crate::browser::{PASSWORD, Stage};

#[sqlx::test(migrations = false)]
async fn every_answer_tells_the_browser_to_run_nothing_foreign(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut browser = stage.browser();
    for path in [
        "/",
        "/sign-in",
        "/nothing",
        "/links/link_unknown",
        "/t/x/sites",
    ] {
        let answer = browser.get(path).await;
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{path}");
        assert_eq!(
            answer.headers[header::X_CONTENT_TYPE_OPTIONS],
            "nosniff",
            "{path}"
        );
    }
    let page = browser.get("/sign-in").await.text;
    for (before, after) in [("href=\"/assets/", "\""), ("src=\"/assets/", "\"")] {
        let (_, rest) = page.split_once(before).unwrap();
        let name = rest.split_once(after).unwrap().0;
        let asset = browser.get(&format!("/assets/{name}")).await;
        assert_eq!(asset.status, StatusCode::OK);
        let kept = asset.headers[header::CACHE_CONTROL].to_str().unwrap();
        assert!(kept.contains("immutable"), "{kept}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_form_of_another_site_changes_nothing(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ada@example.com", Role::Viewer).await;
    let mut browser = stage.browser();
    let form = format!("name=Ada&password={}", PASSWORD.replace(' ', "+"));
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[
            ("origin", "https://evil.example"),
            ("host", "console.example"),
        ],
        &[],
    ] {
        let answer = browser.send(Method::POST, &link, &form, headers).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(browser.cookie.is_none());
    }
    let home = format!("/t/{}/overview", stage.team);
    assert_eq!(browser.post(&link, &form).await.leads_to(), home);
    let answer = browser
        .send(
            Method::POST,
            "/sign-out",
            "",
            &[("sec-fetch-site", "cross-site")],
        )
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.get("/account").await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn a_page_of_another_team_is_as_a_page_that_does_not_exist(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ada@example.com", Role::Viewer).await;
    let mut browser = stage.browser();
    let form = format!("name=Ada&password={}", PASSWORD.replace(' ', "+"));
    browser.post(&link, &form).await;
    let name = "Other".parse().unwrap();
    let caller = management::Caller::command_line(&stage.management);
    let other = management::teams::create(&caller, &name, None);
    let other = other.await.unwrap().id;
    let nobody = TeamId::from_uuid(uuid::Uuid::now_v7());
    let foreign = browser.get(&format!("/t/{other}/sites")).await;
    let missing = browser.get(&format!("/t/{nobody}/sites")).await;
    assert_eq!(foreign.status, missing.status);
    assert_eq!(foreign.text, missing.text);
    assert_ne!(foreign.status, StatusCode::OK);
}
