//! Joining, signing in, and signing out.

use domain::{role::Role, totp::TotpSecret};
use poem::http::StatusCode;
use sqlx::PgPool;

use crate::browser::{PASSWORD, Stage, base32, between};

#[sqlx::test(migrations = false)]
async fn an_invited_viewer_joins_with_a_name_and_a_password(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ada@example.com", Role::Viewer).await;
    let mut browser = stage.browser();
    let page = browser.get(&link).await;
    assert!(page.text.contains("Join Marktplatz") && page.text.contains("ada@example.com"));

    let refused = browser.post(&link, "name=Ada&password=short").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("value=\"Ada\""),
        "what was typed stays"
    );
    assert!(browser.cookie.is_none());

    let form = format!("name=Ada+Lindqvist&password={}", PASSWORD.replace(' ', "+"));
    let joined = browser.post(&link, &form).await;
    let home = format!("/t/{}/overview", stage.team);
    assert_eq!(joined.leads_to(), home);
    assert_eq!(browser.get("/").await.leads_to(), home);
    let home = browser.get(&home).await;
    assert_eq!(home.status, StatusCode::OK);
    assert!(home.text.contains("Ada Lindqvist") && home.text.contains("Marktplatz"));
    assert_eq!(
        browser.get(&link).await.status,
        StatusCode::NOT_FOUND,
        "it works once"
    );
}

#[sqlx::test(migrations = false)]
async fn an_owner_must_set_up_a_second_factor_and_gives_it_at_the_next_sign_in(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ada@example.com", Role::Owner).await;
    let mut browser = stage.browser();
    let form = format!("name=Ada&password={}", PASSWORD.replace(' ', "+"));
    assert_eq!(
        browser.post(&link, &form).await.leads_to(),
        "/account/factor"
    );
    assert_eq!(browser.get("/account").await.leads_to(), "/account/factor");

    let page = browser.post("/account/factor", "").await.text;
    let secret = between(&page, "name=\"secret\" value=\"", "\"");
    assert!(page.contains("<svg class=\"qr\""));
    let secret = TotpSecret::from_bytes(base32(secret));
    let wrong = browser
        .post("/account/factor/confirm", "code=000000&secret=x&uri=y")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let code = format!("code={}", secret.code_at(chrono::Utc::now()));
    let page = browser.post("/account/factor/confirm", &code).await;
    assert_eq!(
        page.text.matches("<li><code>").count(),
        10,
        "recovery codes"
    );
    assert_eq!(browser.get("/account").await.status, StatusCode::OK);

    let held = browser.cookie.clone();
    assert_eq!(
        browser.post("/sign-out", "").await.leads_to(),
        "/sign-in?done=signed-out"
    );
    browser.cookie = held;
    assert_eq!(
        browser.get("/account").await.leads_to(),
        "/sign-in",
        "the session is over"
    );

    let mut browser = stage.browser();
    let form = format!(
        "email=ada%40example.com&password={}",
        PASSWORD.replace(' ', "+")
    );
    assert_eq!(
        browser.post("/sign-in", &form).await.leads_to(),
        "/sign-in/code"
    );
    assert_eq!(browser.get("/account").await.leads_to(), "/sign-in/code");
    let later = chrono::Utc::now() + chrono::TimeDelta::seconds(30);
    let code = format!("code={}", secret.code_at(later));
    assert_eq!(browser.post("/sign-in/code", &code).await.leads_to(), "/");
    assert_eq!(browser.get("/account").await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn unknown_accounts_and_wrong_passwords_are_answered_alike(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ada@example.com", Role::Viewer).await;
    let form = format!("name=Ada&password={}", PASSWORD.replace(' ', "+"));
    stage.browser().post(&link, &form).await;
    let mut answers = Vec::new();
    for email in ["ada@example.com", "eve@example.com"] {
        let form = format!("email={email}&password=wrong+horse+battery");
        let answer = stage.browser().post("/sign-in", &form).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        answers.push(answer.text.replace(email, ""));
    }
    assert_eq!(answers[0], answers[1]);
}
