//! Accounts that are connected with a person of the provider, and people who sign in by that.

use serde_json::json;

use super::{provider::Provider, signs_in};
use crate::browser::{Browser, Stage, between};

/// Begins to connect the account of this browser with a person of the provider: the address with which it comes back.
pub(super) async fn begin_to_connect(
    provider: &Provider,
    browser: &mut Browser,
    subject: &str,
) -> String {
    let page = browser.post("/account/sign-on", "").await.text;
    let address = between(&page, "main wide\" href=\"", "\"");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    provider.expect(subject, &[]);
    provider.visit(&address)
}

pub(super) async fn connect(provider: &Provider, browser: &mut Browser, subject: &str) {
    let back = begin_to_connect(provider, browser, subject).await;
    let connected = browser.get(&back).await;
    assert_eq!(connected.leads_to(), "/account?done=connected");
}

/// A browser in which the provider's person is signed in, if the person gets in. The provider says that it checked several
/// factors.
pub(super) async fn gets_in(provider: &Provider, stage: &Stage, subject: &str) -> Option<Browser> {
    let mut browser = stage.browser();
    let claims = json!({ "amr": ["mfa"], "auth_time": chrono::Utc::now().timestamp() });
    provider.expect(subject, &[]);
    provider.set(|state| state.claims = claims);
    let sent = browser.get("/sign-on").await;
    let back = provider.visit(sent.leads_to());
    browser.get(&back).await;
    provider.set(|state| state.claims = json!({}));
    signs_in(&browser).then_some(browser)
}
