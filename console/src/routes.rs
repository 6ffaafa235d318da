//! Every page and every form's target.

use std::collections::BTreeMap;

use domain::scope::Scope::{
    AuditRead, ClosuresRead, ClosuresWrite, ErasuresRead, ErasuresWrite, HashListsRead,
    HashListsWrite, KeysRead, KeysWrite, MediaDecide, MediaRead, PeopleRead, PeopleWrite,
    PlansRead, PlansWrite, QueuesRead, QueuesWrite, ReviewsManage, ReviewsRead, RulesRead,
    RulesWrite, SitesRead, SitesWrite, SubscriptionsRead, SubscriptionsWrite, TeamsRead,
    TeamsWrite, TokensRead, TokensWrite, UsageRead, WebhooksRead, WebhooksWrite,
};
use http_server::Routes;
use poem::http::Method;

use crate::{
    account, assets, audit, closures, dead_jobs, desk, erasures, hash_lists, items, overview,
    people, plans, policies, providers, queues,
    router::{
        Access::{self, Nothing, Scope, Session},
        Route, back, get, post,
    },
    rules, sign_in, sites, subscriptions, teams, tokens, usage, webhooks,
};

/// The path, the method and the needs of each, for tests of who may open what.
pub fn list() -> Vec<(&'static str, &'static str, Access)> {
    all()
        .into_iter()
        .map(|route| {
            let method = if route.method == Method::GET {
                "GET"
            } else {
                "POST"
            };
            (method, route.path, route.needs)
        })
        .collect()
}

/// The routes for the metrics and the header `Allow`.
pub(crate) fn measured() -> Routes {
    let mut methods: BTreeMap<&str, Vec<Method>> = BTreeMap::new();
    for route in all() {
        methods.entry(route.path).or_default().push(route.method);
    }
    let routes = methods.into_iter();
    Routes::new(routes.map(|(path, methods)| (path.to_owned(), methods)))
}

pub(crate) fn all() -> Vec<Route> {
    [
        own(),
        desk(),
        rules(),
        content(),
        webhooks(),
        team(),
        instance(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Signing in, and the own account.
#[rustfmt::skip]
fn own() -> Vec<Route> {
    vec![
        get("/assets/{name}", Nothing, assets::serve),

        get("/", Session, account::start),

        get("/sign-in", Nothing, sign_in::show),
        post("/sign-in", Nothing, sign_in::enter),
        get("/sign-in/code", Nothing, sign_in::ask_code),
        post("/sign-in/code", Nothing, sign_in::give_code),

        get("/sign-on", Nothing, sign_in::single_sign_on::begin),
        get("/sign-on/again", Session, sign_in::single_sign_on::again),
        post("/sign-on/take-address", Nothing, sign_in::single_sign_on::take_address),
        back("/sign-on/callback", Nothing, sign_in::single_sign_on::end),

        post("/sign-out", Nothing, sign_in::leave),

        get("/links/{link}", Nothing, sign_in::one_time_link::show),
        post("/links/{link}", Nothing, sign_in::one_time_link::follow),
        get("/links/{link}/sign-on", Nothing, sign_in::single_sign_on::join),

        get("/account", Session, account::show),
        post("/account/password", Session, account::change_password),
        post("/account/sign-on", Session, account::connect),
        post("/account/identities/{identity}/disconnect", Session, account::disconnect),
        get("/account/factor", Session, account::second_factor::show),
        post("/account/factor", Session, account::second_factor::begin),
        post("/account/factor/confirm", Session, account::second_factor::confirm),
        post("/account/factor/remove", Session, account::second_factor::remove),
        post("/account/recovery-codes", Session, account::second_factor::renew_codes),
        post("/account/sessions/end-others", Session, account::end_other_sessions),
        post("/account/sessions/{session}/end", Session, account::end_session),
    ]
}

/// The review desk of a team.
#[rustfmt::skip]
fn desk() -> Vec<Route> {
    vec![
        get("/t/{team}/desk", Scope(MediaDecide), desk::show),
        post("/t/{team}/desk/claim", Scope(MediaDecide), desk::claim),
        get("/t/{team}/desk/bulk", Scope(ReviewsManage), desk::bulk::show),
        post("/t/{team}/desk/bulk", Scope(ReviewsManage), desk::bulk::create),
        post("/t/{team}/desk/bulk/unveil", Scope(ReviewsManage), desk::bulk::unveil),
        get("/t/{team}/desk/bulk/{bulk}", Scope(ReviewsManage), desk::bulk::progress),
        post("/t/{team}/desk/bulk/{bulk}/undo", Scope(ReviewsManage), desk::bulk::undo),
        get("/t/{team}/desk/exposure", Scope(ReviewsRead), desk::exposure),
        get("/t/{team}/desk/quality", Scope(ReviewsManage), desk::reports::show),
        get("/t/{team}/desk/quality/csv", Scope(ReviewsManage), desk::reports::download),
        post("/t/{team}/desk/quality/try", Scope(RulesWrite), desk::reports::try_threshold),
        get("/t/{team}/desk/{review}", Scope(MediaDecide), desk::review::show),
        get("/t/{team}/desk/{review}/preview", Scope(MediaDecide), desk::review::preview),
        post("/t/{team}/desk/{review}/decision", Scope(MediaDecide), desk::review::decide),
        post("/t/{team}/desk/{review}/undo", Scope(MediaDecide), desk::review::undo),
        post("/t/{team}/desk/{review}/skip", Scope(MediaDecide), desk::review::skip),
        post("/t/{team}/desk/{review}/escalate", Scope(MediaDecide), desk::review::escalate),
        post("/t/{team}/desk/{review}/note", Scope(MediaDecide), desk::review::note),
        post("/t/{team}/desk/{review}/renew", Scope(MediaDecide), desk::review::renew),
        post("/t/{team}/desk/{review}/unveil", Scope(MediaDecide), desk::review::unveil),

        get("/t/{team}/policies", Scope(ReviewsRead), policies::list),
        get("/t/{team}/policies/new", Scope(ReviewsManage), policies::new),
        post("/t/{team}/policies/new", Scope(ReviewsManage), policies::create),
        get("/t/{team}/policies/{policy}", Scope(ReviewsRead), policies::show),
        post("/t/{team}/policies/{policy}", Scope(ReviewsManage), policies::change),
        post("/t/{team}/policies/{policy}/delete", Scope(ReviewsManage), policies::delete),

        get("/t/{team}/sites/{site}/desk", Scope(ReviewsRead), sites::desk::show),
        post("/t/{team}/sites/{site}/desk", Scope(ReviewsManage), sites::desk::save),
    ]
}

#[rustfmt::skip]
fn rules() -> Vec<Route> {
    vec![
        get("/t/{team}/rules", Scope(RulesRead), rules::list),
        get("/t/{team}/rules/new", Scope(RulesWrite), rules::new),
        post("/t/{team}/rules/new", Scope(RulesWrite), rules::create),
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
        get("/t/{team}/rules/{group}/compare", Scope(RulesRead), rules::versions::compare),
        get("/t/{team}/rules/{group}/shadow", Scope(RulesRead), rules::shadow::show),
        post("/t/{team}/rules/{group}/shadow", Scope(RulesWrite), rules::shadow::start),
        post("/t/{team}/rules/{group}/shadow/end", Scope(RulesWrite), rules::shadow::end),
        get("/t/{team}/rules/{group}/shadow/{version}", Scope(RulesRead), rules::shadow::version),
        get("/t/{team}/rules/{group}/backtests", Scope(RulesRead), rules::backtests::list),
        post("/t/{team}/rules/{group}/backtests", Scope(RulesWrite), rules::backtests::create),
        get("/t/{team}/rules/{group}/backtests/{backtest}", Scope(RulesRead), rules::backtests::show),
        post("/t/{team}/rules/{group}/backtests/{backtest}/cancel", Scope(RulesWrite), rules::backtests::cancel),
        get("/t/{team}/rules/{group}/settings", Scope(RulesRead), rules::settings::show),
        post("/t/{team}/rules/{group}/settings", Scope(RulesWrite), rules::settings::rename),
        post("/t/{team}/rules/{group}/delete", Scope(RulesWrite), rules::settings::delete),
        post("/t/{team}/rules/{group}/sites/{site}/attach", Scope(SitesWrite), rules::settings::attach),
        post("/t/{team}/rules/{group}/sites/{site}/detach", Scope(SitesWrite), rules::settings::detach),
    ]
}

/// What was submitted to a team, and its hash lists.
#[rustfmt::skip]
fn content() -> Vec<Route> {
    vec![
        get("/t/{team}/items", Scope(MediaRead), items::list),
        get("/t/{team}/items/{item}", Scope(MediaRead), items::item::show),
        get("/t/{team}/items/{item}/preview", Scope(MediaRead), items::item::preview),
        post("/t/{team}/items/{item}/decision", Scope(MediaDecide), items::item::decide),
        post("/t/{team}/items/{item}/hash-list", Scope(HashListsWrite), items::item::add_to_hash_list),

        get("/t/{team}/hash-lists", Scope(HashListsRead), hash_lists::list),
        get("/t/{team}/hash-lists/new", Scope(HashListsWrite), hash_lists::new),
        post("/t/{team}/hash-lists/new", Scope(HashListsWrite), hash_lists::create),
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
        get("/t/{team}/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::show_settings),
        post("/t/{team}/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::change),
        post("/t/{team}/hash-lists/{list}/delete", Scope(HashListsWrite), hash_lists::delete),

        get("/t/{team}/overview", Scope(MediaRead), overview::show),
    ]
}

#[rustfmt::skip]
fn webhooks() -> Vec<Route> {
    vec![
        get("/t/{team}/webhooks", Scope(WebhooksRead), webhooks::list),
        get("/t/{team}/webhooks/new", Scope(WebhooksWrite), webhooks::settings::new),
        post("/t/{team}/webhooks/new", Scope(WebhooksWrite), webhooks::settings::create),
        get("/t/{team}/webhooks/{endpoint}", Scope(WebhooksRead), webhooks::endpoint::show),
        get("/t/{team}/webhooks/{endpoint}/settings", Scope(WebhooksWrite), webhooks::settings::show),
        post("/t/{team}/webhooks/{endpoint}/settings", Scope(WebhooksWrite), webhooks::settings::change),
        post("/t/{team}/webhooks/{endpoint}/headers", Scope(WebhooksWrite), webhooks::settings::replace_headers),
        post("/t/{team}/webhooks/{endpoint}/delete", Scope(WebhooksWrite), webhooks::settings::delete),
        post("/t/{team}/webhooks/{endpoint}/disable", Scope(WebhooksWrite), webhooks::endpoint::disable),
        post("/t/{team}/webhooks/{endpoint}/enable", Scope(WebhooksWrite), webhooks::endpoint::enable),
        post("/t/{team}/webhooks/{endpoint}/retry", Scope(WebhooksWrite), webhooks::endpoint::retry),
        post("/t/{team}/webhooks/{endpoint}/ping", Scope(WebhooksWrite), webhooks::endpoint::ping),
        get("/t/{team}/webhooks/{endpoint}/recoveries", Scope(WebhooksRead), webhooks::recoveries::list),
        post("/t/{team}/webhooks/{endpoint}/recoveries", Scope(WebhooksWrite), webhooks::endpoint::recover),
        post("/t/{team}/webhooks/{endpoint}/recoveries/{recovery}/cancel", Scope(WebhooksWrite), webhooks::recoveries::cancel),

        get("/t/{team}/deliveries", Scope(WebhooksRead), webhooks::deliveries::list),
        get("/t/{team}/deliveries/{delivery}", Scope(WebhooksRead), webhooks::delivery::show),
        post("/t/{team}/deliveries/{delivery}/resend", Scope(WebhooksWrite), webhooks::delivery::resend),
        post("/t/{team}/deliveries/{delivery}/retry", Scope(WebhooksWrite), webhooks::delivery::retry),

        get("/t/{team}/events", Scope(WebhooksRead), webhooks::events::list),
    ]
}

/// The sites and the people of a team.
#[rustfmt::skip]
fn team() -> Vec<Route> {
    vec![
        get("/t/{team}/sites", Scope(SitesRead), sites::list),
        get("/t/{team}/sites/new", Scope(SitesWrite), sites::new),
        post("/t/{team}/sites/new", Scope(SitesWrite), sites::create),
        get("/t/{team}/sites/{site}", Scope(SitesRead), sites::overview::show),
        get("/t/{team}/sites/{site}/settings", Scope(SitesWrite), sites::settings::show),
        post("/t/{team}/sites/{site}/settings", Scope(SitesWrite), sites::settings::save),
        post("/t/{team}/sites/{site}/groups", Scope(SitesWrite), sites::settings::attach),
        post("/t/{team}/sites/{site}/groups/{group}/detach", Scope(SitesWrite), sites::settings::detach),
        get("/t/{team}/sites/{site}/keys", Scope(KeysRead), sites::keys::list),
        post("/t/{team}/sites/{site}/keys", Scope(KeysWrite), sites::keys::create),
        get("/t/{team}/sites/{site}/keys/rotate", Scope(KeysWrite), sites::keys::show_rotation),
        post("/t/{team}/sites/{site}/keys/rotate", Scope(KeysWrite), sites::keys::rotate),
        get("/t/{team}/sites/{site}/keys/{key}", Scope(KeysWrite), sites::keys::show),
        post("/t/{team}/sites/{site}/keys/{key}", Scope(KeysWrite), sites::keys::disable),
        get("/t/{team}/sites/{site}/secret", Scope(WebhooksRead), sites::webhook_secret::show),
        get("/t/{team}/sites/{site}/secret/rotate", Scope(WebhooksWrite), sites::webhook_secret::check),
        post("/t/{team}/sites/{site}/secret/rotate", Scope(WebhooksWrite), sites::webhook_secret::rotate),

        get("/t/{team}/usage", Scope(UsageRead), usage::show),

        get("/t/{team}/people", Scope(PeopleRead), people::list),
        get("/t/{team}/people/invite", Scope(PeopleWrite), people::invitations::new),
        post("/t/{team}/people/invite", Scope(PeopleWrite), people::invitations::create),
        get("/t/{team}/people/invitations", Scope(PeopleRead), people::invitations::list),
        post("/t/{team}/people/invitations/{invitation}/cancel", Scope(PeopleWrite), people::invitations::cancel),
        post("/t/{team}/people/sign-in-rule", Scope(PeopleWrite), people::change_rule),
        get("/t/{team}/people/{person}", Scope(PeopleRead), people::person::show),
        post("/t/{team}/people/{person}", Scope(PeopleWrite), people::person::change),
        post("/t/{team}/people/{person}/disable", Scope(PeopleWrite), people::person::disable),
        post("/t/{team}/people/{person}/password-link", Scope(PeopleWrite), people::person::reset),
        post("/t/{team}/people/{person}/sessions/{session}/end", Scope(PeopleWrite), people::person::end_session),

        get("/t/{team}/tokens", Scope(TokensRead), tokens::list),
        get("/t/{team}/tokens/new", Scope(TokensWrite), tokens::new),
        post("/t/{team}/tokens/new", Scope(TokensWrite), tokens::create),
        get("/t/{team}/tokens/{token}", Scope(TokensRead), tokens::show),
        post("/t/{team}/tokens/{token}/disable", Scope(TokensWrite), tokens::disable),

        get("/t/{team}/erasures", Scope(ErasuresRead), erasures::list),
        post("/t/{team}/erasures", Scope(ErasuresWrite), erasures::create),
        get("/t/{team}/erasures/{erasure}", Scope(ErasuresRead), erasures::show),
        post("/t/{team}/erasures/{erasure}/resume", Scope(ErasuresWrite), erasures::resume),

        get("/t/{team}/closures", Scope(ClosuresRead), closures::list),
        post("/t/{team}/closures", Scope(ClosuresWrite), closures::create),
        get("/t/{team}/closures/{closure}", Scope(ClosuresRead), closures::show),
        post("/t/{team}/closures/{closure}/cancel", Scope(ClosuresWrite), closures::cancel),
        post("/t/{team}/closures/{closure}/resume", Scope(ClosuresWrite), closures::resume),

        get("/t/{team}/audit", Scope(AuditRead), audit::list),
    ]
}

/// The whole instance, for operators.
#[rustfmt::skip]
fn instance() -> Vec<Route> {
    vec![
        get("/instance/teams", Scope(TeamsRead), teams::list),
        get("/instance/teams/new", Scope(TeamsWrite), teams::new),
        post("/instance/teams/new", Scope(TeamsWrite), teams::create),
        get("/instance/teams/{team}", Scope(TeamsRead), teams::show),
        post("/instance/teams/{team}", Scope(TeamsWrite), teams::rename),
        get("/instance/teams/{team}/subscription", Scope(SubscriptionsRead), subscriptions::show),
        post("/instance/teams/{team}/subscription", Scope(SubscriptionsWrite), subscriptions::change),

        get("/instance/plans", Scope(PlansRead), plans::list),
        get("/instance/plans/new", Scope(PlansWrite), plans::new),
        post("/instance/plans/new", Scope(PlansWrite), plans::create),
        get("/instance/plans/{plan}", Scope(PlansRead), plans::show),
        post("/instance/plans/{plan}", Scope(PlansWrite), plans::change),

        get("/instance/hash-lists", Scope(HashListsRead), hash_lists::list),
        get("/instance/hash-lists/new", Scope(HashListsWrite), hash_lists::new),
        post("/instance/hash-lists/new", Scope(HashListsWrite), hash_lists::create),
        get("/instance/hash-lists/{list}", Scope(HashListsRead), hash_lists::entries::show),
        post("/instance/hash-lists/{list}/entries", Scope(HashListsWrite), hash_lists::entries::create),
        post("/instance/hash-lists/{list}/entries/{entry}/remove", Scope(HashListsWrite), hash_lists::entries::remove),
        get("/instance/hash-lists/{list}/imports", Scope(HashListsRead), hash_lists::imports::list),
        post("/instance/hash-lists/{list}/imports", Scope(HashListsWrite), hash_lists::imports::create),
        get("/instance/hash-lists/{list}/imports/{import}", Scope(HashListsRead), hash_lists::imports::show),
        post("/instance/hash-lists/{list}/imports/{import}/cancel", Scope(HashListsWrite), hash_lists::imports::cancel),
        get("/instance/hash-lists/{list}/scans", Scope(HashListsRead), hash_lists::scans::list),
        post("/instance/hash-lists/{list}/scans", Scope(HashListsWrite), hash_lists::scans::create),
        get("/instance/hash-lists/{list}/scans/{scan}", Scope(HashListsRead), hash_lists::scans::show),
        post("/instance/hash-lists/{list}/scans/{scan}/cancel", Scope(HashListsWrite), hash_lists::scans::cancel),
        get("/instance/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::show_settings),
        post("/instance/hash-lists/{list}/settings", Scope(HashListsWrite), hash_lists::change),
        post("/instance/hash-lists/{list}/delete", Scope(HashListsWrite), hash_lists::delete),

        get("/instance/people", Scope(PeopleRead), people::list),
        get("/instance/people/invite", Scope(PeopleWrite), people::invitations::new),
        post("/instance/people/invite", Scope(PeopleWrite), people::invitations::create),
        get("/instance/people/invitations", Scope(PeopleRead), people::invitations::list),
        post("/instance/people/invitations/{invitation}/cancel", Scope(PeopleWrite), people::invitations::cancel),
        get("/instance/people/{person}", Scope(PeopleRead), people::person::show),
        post("/instance/people/{person}/disable", Scope(PeopleWrite), people::person::disable),
        post("/instance/people/{person}/password-link", Scope(PeopleWrite), people::person::reset),
        post("/instance/people/{person}/sessions/{session}/end", Scope(PeopleWrite), people::person::end_session),

        get("/instance/tokens", Scope(TokensRead), tokens::list),
        get("/instance/tokens/new", Scope(TokensWrite), tokens::new),
        post("/instance/tokens/new", Scope(TokensWrite), tokens::create),
        get("/instance/tokens/{token}", Scope(TokensRead), tokens::show),
        post("/instance/tokens/{token}/disable", Scope(TokensWrite), tokens::disable),

        get("/instance/closures", Scope(ClosuresRead), closures::list),
        post("/instance/closures", Scope(ClosuresWrite), closures::create),
        get("/instance/closures/{closure}", Scope(ClosuresRead), closures::show),
        post("/instance/closures/{closure}/cancel", Scope(ClosuresWrite), closures::cancel),
        post("/instance/closures/{closure}/resume", Scope(ClosuresWrite), closures::resume),

        get("/instance/audit", Scope(AuditRead), audit::list),

        get("/instance/queues", Scope(QueuesRead), queues::list),
        get("/instance/queues/{queue}", Scope(QueuesRead), queues::queue::show),
        get("/instance/queues/{queue}/find", Scope(QueuesRead), queues::queue::find),
        post("/instance/queues/{queue}/pause", Scope(QueuesWrite), queues::queue::pause),
        post("/instance/queues/{queue}/resume", Scope(QueuesWrite), queues::queue::resume),
        get("/instance/queues/{queue}/groups/{group}", Scope(QueuesRead), queues::queue::show),
        post("/instance/queues/{queue}/groups/{group}/pause", Scope(QueuesWrite), queues::queue::pause),
        post("/instance/queues/{queue}/groups/{group}/resume", Scope(QueuesWrite), queues::queue::resume),
        post("/instance/queues/{queue}/groups/{group}/cap", Scope(QueuesWrite), queues::queue::cap),
        post("/instance/queues/{queue}/groups/{group}/uncap", Scope(QueuesWrite), queues::queue::uncap),
        get("/instance/queues/{queue}/lanes/{lane}", Scope(QueuesRead), queues::queue::show),
        post("/instance/queues/{queue}/lanes/{lane}/pause", Scope(QueuesWrite), queues::queue::pause),
        post("/instance/queues/{queue}/lanes/{lane}/resume", Scope(QueuesWrite), queues::queue::resume),
        post("/instance/queues/{queue}/lanes/{lane}/cap", Scope(QueuesWrite), queues::queue::cap),
        post("/instance/queues/{queue}/lanes/{lane}/uncap", Scope(QueuesWrite), queues::queue::uncap),

        get("/instance/dead-jobs", Scope(QueuesRead), dead_jobs::list),
        post("/instance/dead-jobs/replay", Scope(QueuesWrite), dead_jobs::replay::step),

        get("/instance/providers", Scope(SitesRead), providers::show),
    ]
}
