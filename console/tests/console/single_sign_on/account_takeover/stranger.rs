//! Who had the account before, and what its owner does about that.

use domain::{email::Email, role::Role, totp::TotpSecret};
use management::{
    Caller,
    people::{factor_removal, password_resets},
};
use poem::http::StatusCode;

use super::super::{Scene, connecting::gets_in};
use crate::browser::{Browser, PASSWORD, Stage, base32, between};

/// The address of somebody who has never been here.
pub(super) const CEO: &str = "ceo@bigcorp.example";
/// What that person chooses.
pub(super) const NEW: &str = "gravel lantern moth";

pub(super) fn form(password: &str) -> String {
    format!("password={}", password.replace(' ', "+"))
}

pub(super) fn sign_in_form(password: &str) -> String {
    format!("email={CEO}&{}", form(password))
}

/// What a stranger has.
pub(super) struct Stranger {
    pub(super) browser: Browser,
    pub(super) factor: TotpSecret,
    pub(super) recovery_code: String,
}

impl Stranger {
    /// The stranger's team has invited the address, and the stranger has opened the link.
    pub(super) async fn of(stage: &Stage) -> Self {
        let link = stage.invitation(CEO, Role::Admin).await;
        let mut browser = stage.browser();
        let joined = format!("name=Ceo&{}", form(PASSWORD));
        browser.post(&link, &joined).await.leads_to();
        let page = browser.post("/account/factor", "").await.text;
        let secret = between(&page, "name=\"secret\" value=\"", "\"");
        let factor = TotpSecret::from_bytes(base32(secret));
        let code = format!("code={}", factor.code_at(chrono::Utc::now()));
        let codes = browser.post("/account/factor/confirm", &code).await.text;
        Self {
            browser,
            factor,
            recovery_code: between(&codes, "<li><code>", "</code>").to_owned(),
        }
    }

    /// Signs in with the password, and keeps the session that waits for a code.
    pub(super) async fn half_session(stage: &Stage) -> Browser {
        let mut browser = stage.browser();
        let asked = browser.post("/sign-in", &sign_in_form(PASSWORD)).await;
        assert_eq!(asked.leads_to(), "/sign-in/code");
        browser
    }
}

pub(super) fn ceo() -> Email {
    CEO.parse().unwrap()
}

/// A link to a new password, by the operator.
pub(super) async fn reset_link(stage: &Stage) -> String {
    let (by, email) = (Caller::command_line(&stage.management), ceo());
    let issued = password_resets::create_of(&by, &email);
    format!("/links/{}", issued.await.unwrap().secret.expose())
}

/// The owner of the address gets a link from the operator, and sets a new password.
pub(super) async fn reset_password(stage: &Stage) {
    let link = reset_link(stage).await;
    let page = stage.browser().get(&link).await.text;
    assert!(
        page.contains("Everything ends that could sign in"),
        "{page}"
    );
    let done = stage.browser().post(&link, &form(NEW)).await;
    assert_eq!(done.leads_to(), "/sign-in?done=password-set");
}

/// The operator removes the second factor.
pub(super) async fn remove_factor(stage: &Stage) {
    let (by, email) = (Caller::command_line(&stage.management), ceo());
    let removed = factor_removal::remove(&by, &email);
    assert!(removed.await.unwrap().had_factor);
}

/// The owner of the address accepts an invitation with the new password.
pub(super) async fn join(stage: &Stage, role: Role) -> Browser {
    let mut browser = stage.browser();
    let link = stage.invitation(CEO, role).await;
    let answer = browser.post(&link, &form(NEW)).await;
    let there = answer.leads_to();
    assert_ne!(
        there,
        link,
        "nothing else can sign in: {}",
        browser.get(&link).await.text
    );
    if there == "/account/factor" {
        browser.set_up_factor().await;
    }
    browser
}

/// Panics if the stranger gets in with anything that it kept.
pub(super) async fn assert_nothing_is_left(
    scene: &Scene,
    stranger: &mut Stranger,
    half: &mut Browser,
) {
    assert!(
        gets_in(&scene.provider, &scene.stage, "eve")
            .await
            .is_none()
    );
    for browser in [&mut stranger.browser, half] {
        assert_eq!(browser.get("/account").await.leads_to(), "/sign-in");
    }
    let refused = scene.stage.browser();
    let refused = refused
        .clone()
        .post("/sign-in", &sign_in_form(PASSWORD))
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}
