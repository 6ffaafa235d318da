//! Every page and every form's target.

use domain::scope::Scope::{SitesRead, SitesWrite, WebhooksRead, WebhooksWrite};

use crate::{
    account, assets, door,
    router::{Needs, Screen, get, post},
    sites, start, webhooks,
};

/// The path, the method and the needs of each, for tests of who may open what.
pub fn list() -> Vec<(&'static str, &'static str, Needs)> {
    all()
        .into_iter()
        .map(|screen| {
            let method = if screen.method == poem::http::Method::GET {
                "GET"
            } else {
                "POST"
            };
            (method, screen.path, screen.needs)
        })
        .collect()
}

#[rustfmt::skip]
pub(crate) fn all() -> Vec<Screen> {
    use Needs::{Nothing, Scope, Session};
    vec![
        get("/assets/{name}", Nothing, assets::serve),
        get("/", Session, start::show),

        get("/sign-in", Nothing, door::sign_in::show),
        post("/sign-in", Nothing, door::sign_in::enter),
        get("/sign-in/code", Nothing, door::code::show),
        post("/sign-in/code", Nothing, door::code::give),
        post("/sign-out", Nothing, door::sign_in::leave),
        get("/links/{link}", Nothing, door::link::show),
        post("/links/{link}", Nothing, door::link::follow),

        get("/account", Session, account::show),
        post("/account/password", Session, account::password::change),
        get("/account/factor", Session, account::factor::show),
        post("/account/factor", Session, account::factor::begin),
        post("/account/factor/confirm", Session, account::factor::confirm),
        post("/account/factor/remove", Session, account::factor::remove),
        post("/account/recovery-codes", Session, account::factor::renew_codes),
        post("/account/sessions/end-others", Session, account::sessions::end_others),
        post("/account/sessions/{session}/end", Session, account::sessions::end),

        get("/t/{team}/sites", Scope(SitesRead), sites::list),
        get("/t/{team}/sites/new", Scope(SitesWrite), sites::new::show),
        post("/t/{team}/sites/new", Scope(SitesWrite), sites::new::create),

        get("/t/{team}/webhooks", Scope(WebhooksRead), webhooks::list),
        get("/t/{team}/webhooks/new", Scope(WebhooksWrite), webhooks::new::show),
        post("/t/{team}/webhooks/new", Scope(WebhooksWrite), webhooks::new::create),
        get("/t/{team}/webhooks/{endpoint}", Scope(WebhooksRead), webhooks::endpoint::show),
        get("/t/{team}/webhooks/{endpoint}/settings", Scope(WebhooksWrite), webhooks::settings::show),
        post("/t/{team}/webhooks/{endpoint}/settings", Scope(WebhooksWrite), webhooks::settings::change),
        post("/t/{team}/webhooks/{endpoint}/headers", Scope(WebhooksWrite), webhooks::settings::replace_headers),
        post("/t/{team}/webhooks/{endpoint}/delete", Scope(WebhooksWrite), webhooks::settings::delete),
        post("/t/{team}/webhooks/{endpoint}/disable", Scope(WebhooksWrite), webhooks::switch::disable),
        post("/t/{team}/webhooks/{endpoint}/enable", Scope(WebhooksWrite), webhooks::switch::enable),
        post("/t/{team}/webhooks/{endpoint}/retry", Scope(WebhooksWrite), webhooks::switch::retry),
        post("/t/{team}/webhooks/{endpoint}/ping", Scope(WebhooksWrite), webhooks::ping::send),
        get("/t/{team}/webhooks/{endpoint}/recoveries", Scope(WebhooksRead), webhooks::recoveries::list),
        post("/t/{team}/webhooks/{endpoint}/recoveries", Scope(WebhooksWrite), webhooks::recover::start),
        post("/t/{team}/webhooks/{endpoint}/recoveries/{recovery}/cancel", Scope(WebhooksWrite), webhooks::recover::cancel),
        get("/t/{team}/deliveries", Scope(WebhooksRead), webhooks::deliveries::list),
        get("/t/{team}/deliveries/{delivery}", Scope(WebhooksRead), webhooks::delivery::show),
        post("/t/{team}/deliveries/{delivery}/resend", Scope(WebhooksWrite), webhooks::delivery::resend),
        post("/t/{team}/deliveries/{delivery}/retry", Scope(WebhooksWrite), webhooks::delivery::retry),
        get("/t/{team}/events", Scope(WebhooksRead), webhooks::events::list),
    ]
}
