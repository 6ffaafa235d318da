//! Every page and every form's target.

use domain::scope::Scope::{RulesRead, RulesWrite, SitesRead, SitesWrite};

use crate::{
    account, assets, door,
    router::{Needs, Screen, get, post},
    rules, sites, start,
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

        get("/t/{team}/rules", Scope(RulesRead), rules::list),
        get("/t/{team}/rules/new", Scope(RulesWrite), rules::new::show),
        post("/t/{team}/rules/new", Scope(RulesWrite), rules::new::create),
        get("/t/{team}/rules/{group}", Scope(RulesRead), rules::group::show),
        get("/t/{team}/rules/{group}/rules/new", Scope(RulesWrite), rules::rule::new),
        post("/t/{team}/rules/{group}/rules/new", Scope(RulesWrite), rules::rule::create),
        get("/t/{team}/rules/{group}/rules/{rule}", Scope(RulesWrite), rules::rule::edit),
        post("/t/{team}/rules/{group}/rules/{rule}", Scope(RulesWrite), rules::rule::replace),
        post("/t/{team}/rules/{group}/rules/{rule}/change", Scope(RulesWrite), rules::draft::change),
        post("/t/{team}/rules/{group}/discard", Scope(RulesWrite), rules::draft::discard),
        get("/t/{team}/rules/{group}/yaml", Scope(RulesRead), rules::yaml::export),
        get("/t/{team}/rules/{group}/import", Scope(RulesWrite), rules::yaml::show),
        post("/t/{team}/rules/{group}/import", Scope(RulesWrite), rules::yaml::import),
        get("/t/{team}/rules/{group}/try", Scope(RulesWrite), rules::trial::show),
        post("/t/{team}/rules/{group}/try", Scope(RulesWrite), rules::trial::run),
        get("/t/{team}/rules/{group}/publish", Scope(RulesRead), rules::publish::show),
        post("/t/{team}/rules/{group}/publish", Scope(RulesWrite), rules::publish::publish),
        get("/t/{team}/rules/{group}/versions", Scope(RulesRead), rules::versions::list),
        get("/t/{team}/rules/{group}/versions/{version}", Scope(RulesRead), rules::versions::show),
        post("/t/{team}/rules/{group}/versions/{version}/live", Scope(RulesWrite), rules::versions::set_live),
        get("/t/{team}/rules/{group}/compare", Scope(RulesRead), rules::versions::compare::show),
        get("/t/{team}/rules/{group}/shadow", Scope(RulesRead), rules::shadow::show),
        post("/t/{team}/rules/{group}/shadow", Scope(RulesWrite), rules::shadow::start),
        post("/t/{team}/rules/{group}/shadow/end", Scope(RulesWrite), rules::shadow::end),
        get("/t/{team}/rules/{group}/shadow/{version}", Scope(RulesRead), rules::shadow::version),
        get("/t/{team}/rules/{group}/backtests", Scope(RulesRead), rules::backtests::list),
        post("/t/{team}/rules/{group}/backtests", Scope(RulesWrite), rules::backtests::create),
        get("/t/{team}/rules/{group}/backtests/{backtest}", Scope(RulesRead), rules::backtests::show),
        post("/t/{team}/rules/{group}/backtests/{backtest}/cancel", Scope(RulesWrite), rules::backtests::cancel),
        get("/t/{team}/rules/{group}/settings", Scope(RulesRead), rules::places::show),
        post("/t/{team}/rules/{group}/settings", Scope(RulesWrite), rules::places::rename),
        post("/t/{team}/rules/{group}/delete", Scope(RulesWrite), rules::places::delete),
        post("/t/{team}/rules/{group}/sites/{site}/attach", Scope(SitesWrite), rules::places::attach),
        post("/t/{team}/rules/{group}/sites/{site}/detach", Scope(SitesWrite), rules::places::detach),
    ]
}
