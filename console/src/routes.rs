//! Every page and every form's target.

use std::collections::BTreeMap;

use domain::scope::Scope::{
    KeysRead, KeysWrite, QueuesRead, QueuesWrite, SitesRead, SitesWrite, UsageRead, WebhooksRead,
    WebhooksWrite,
};
use front::Routes;
use poem::http::Method;

use crate::{
    account, assets, dead_jobs, door, providers, queues,
    router::{Needs, Screen, get, post},
    sites, start, usage,
};

/// The path, the method and the needs of each, for tests of who may open what.
pub fn list() -> Vec<(&'static str, &'static str, Needs)> {
    all()
        .into_iter()
        .map(|screen| {
            let method = if screen.method == Method::GET {
                "GET"
            } else {
                "POST"
            };
            (method, screen.path, screen.needs)
        })
        .collect()
}

/// The routes for the metrics and the header `Allow`.
pub(crate) fn measured() -> Routes {
    let mut methods: BTreeMap<&str, Vec<Method>> = BTreeMap::new();
    for screen in all() {
        methods.entry(screen.path).or_default().push(screen.method);
    }
    let routes = methods.into_iter();
    Routes::new(routes.map(|(path, methods)| (path.to_owned(), methods)))
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
        get("/t/{team}/sites/{site}", Scope(SitesRead), sites::overview::show),
        get("/t/{team}/sites/{site}/settings", Scope(SitesWrite), sites::settings::show),
        post("/t/{team}/sites/{site}/settings", Scope(SitesWrite), sites::settings::save),
        post("/t/{team}/sites/{site}/groups", Scope(SitesWrite), sites::groups::attach),
        post("/t/{team}/sites/{site}/groups/{group}/detach", Scope(SitesWrite), sites::groups::detach),
        get("/t/{team}/sites/{site}/keys", Scope(KeysRead), sites::keys::list),
        post("/t/{team}/sites/{site}/keys", Scope(KeysWrite), sites::keys::create),
        get("/t/{team}/sites/{site}/keys/rotate", Scope(KeysWrite), sites::keys::rotate::show),
        post("/t/{team}/sites/{site}/keys/rotate", Scope(KeysWrite), sites::keys::rotate::rotate),
        get("/t/{team}/sites/{site}/keys/{key}", Scope(KeysWrite), sites::keys::disable::show),
        post("/t/{team}/sites/{site}/keys/{key}", Scope(KeysWrite), sites::keys::disable::disable),
        get("/t/{team}/sites/{site}/secret", Scope(WebhooksRead), sites::secret::show),
        get("/t/{team}/sites/{site}/secret/rotate", Scope(WebhooksWrite), sites::secret::rotate::check),
        post("/t/{team}/sites/{site}/secret/rotate", Scope(WebhooksWrite), sites::secret::rotate::rotate),

        get("/t/{team}/usage", Scope(UsageRead), usage::show),

        get("/instance/queues", Scope(QueuesRead), queues::list),
        get("/instance/queues/{queue}", Scope(QueuesRead), queues::queue::show),
        get("/instance/queues/{queue}/find", Scope(QueuesRead), queues::queue::find),
        post("/instance/queues/{queue}/pause", Scope(QueuesWrite), queues::change::pause),
        post("/instance/queues/{queue}/resume", Scope(QueuesWrite), queues::change::resume),
        get("/instance/queues/{queue}/groups/{group}", Scope(QueuesRead), queues::part::show),
        post("/instance/queues/{queue}/groups/{group}/pause", Scope(QueuesWrite), queues::change::pause),
        post("/instance/queues/{queue}/groups/{group}/resume", Scope(QueuesWrite), queues::change::resume),
        post("/instance/queues/{queue}/groups/{group}/cap", Scope(QueuesWrite), queues::change::cap),
        post("/instance/queues/{queue}/groups/{group}/uncap", Scope(QueuesWrite), queues::change::uncap),
        get("/instance/queues/{queue}/lanes/{lane}", Scope(QueuesRead), queues::part::show),
        post("/instance/queues/{queue}/lanes/{lane}/pause", Scope(QueuesWrite), queues::change::pause),
        post("/instance/queues/{queue}/lanes/{lane}/resume", Scope(QueuesWrite), queues::change::resume),
        post("/instance/queues/{queue}/lanes/{lane}/cap", Scope(QueuesWrite), queues::change::cap),
        post("/instance/queues/{queue}/lanes/{lane}/uncap", Scope(QueuesWrite), queues::change::uncap),
        get("/instance/dead-jobs", Scope(QueuesRead), dead_jobs::list),
        post("/instance/dead-jobs/replay", Scope(QueuesWrite), dead_jobs::replay::step),
        get("/instance/providers", Scope(SitesRead), providers::show),
    ]
}
