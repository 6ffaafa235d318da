//! Every page and every form's target.

use domain::scope::Scope::{
    HashListsRead, HashListsWrite, MediaDecide, MediaRead, SitesRead, SitesWrite,
};

use crate::{
    account, assets, door, hash_lists, items,
    router::{Needs, Screen, get, post},
    sites, start,
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

        get("/t/{team}/items", Scope(MediaRead), items::list),
        get("/t/{team}/items/{item}", Scope(MediaRead), items::item::show),
        post("/t/{team}/items/{item}/decision", Scope(MediaDecide), items::decision::create),
        post("/t/{team}/items/{item}/hash-list", Scope(HashListsWrite), items::listing::create),

        get("/t/{team}/hash-lists", Scope(HashListsRead), hash_lists::list),
        get("/t/{team}/hash-lists/new", Scope(HashListsWrite), hash_lists::new::show),
        post("/t/{team}/hash-lists/new", Scope(HashListsWrite), hash_lists::new::create),
        get("/t/{team}/hash-lists/{list}", Scope(HashListsRead), hash_lists::entries::show),
        post("/t/{team}/hash-lists/{list}/entries", Scope(HashListsWrite), hash_lists::entries::create),
        post("/t/{team}/hash-lists/{list}/images", Scope(HashListsWrite), hash_lists::entries::add_image),
        post("/t/{team}/hash-lists/{list}/entries/{entry}/remove", Scope(HashListsWrite), hash_lists::entries::remove),
        get("/t/{team}/hash-lists/{list}/imports", Scope(HashListsRead), hash_lists::imports::list),
        post("/t/{team}/hash-lists/{list}/imports", Scope(HashListsWrite), hash_lists::imports::create),
        get("/t/{team}/hash-lists/{list}/imports/{import}", Scope(HashListsRead), hash_lists::imports::show),
        post("/t/{team}/hash-lists/{list}/imports/{import}/cancel", Scope(HashListsWrite), hash_lists::imports::cancel),
        get("/t/{team}/hash-lists/{list}/scans", Scope(HashListsRead), hash_lists::scans::list),
        post("/t/{team}/hash-lists/{list}/scans", Scope(HashListsWrite), hash_lists::scans::create),
        get("/t/{team}/hash-lists/{list}/scans/{scan}", Scope(HashListsRead), hash_lists::scans::show),
        post("/t/{team}/hash-lists/{list}/scans/{scan}/cancel", Scope(HashListsWrite), hash_lists::scans::cancel),
        get("/t/{team}/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::settings::show),
        post("/t/{team}/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::settings::change),
        post("/t/{team}/hash-lists/{list}/delete", Scope(HashListsWrite), hash_lists::settings::delete),

        get("/t/{team}/sites", Scope(SitesRead), sites::list),
        get("/t/{team}/sites/new", Scope(SitesWrite), sites::new::show),
        post("/t/{team}/sites/new", Scope(SitesWrite), sites::new::create),
    ]
}
