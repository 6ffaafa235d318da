//! The console: pages with which owners, moderators and operators do in a browser what the management interface does for
//! programs.
//!
//! It is a caller of `management`. A page reads a form into typed values, calls one use case as the person who is signed in,
//! and shows the result or why it was refused. It has no rule and no SQL of its own. All pages work without scripts.

mod account;
mod assets;
mod audit;
mod charts;
mod closures;
mod cookie;
mod csrf;
mod dead_jobs;
mod desk;
mod erasures;
mod error_pages;
mod hash_lists;
mod items;
mod number;
mod overview;
mod page;
mod people;
mod plans;
mod policies;
mod providers;
pub mod public_url;
mod queues;
mod router;
mod routes;
mod rules;
mod security_headers;
mod sign_in;
mod sites;
mod subscriptions;
mod teams;
mod time;
mod tokens;
mod usage;
mod user_agent;
mod visible_text;
mod webhooks;

use std::{sync::Arc, time::Duration};

use fair_share::Proxies;
use http_server::{BodySettings, Middleware, RefusalSettings, SlowRefusals};
use management::Management;
use poem::{Endpoint, EndpointExt as _, Response};
use url::Url;

pub use error_pages::ErrorPages;
pub use router::Access;
pub use routes::list as routes;

/// What the console works with.
pub struct Console {
    /// The use cases.
    pub management: Arc<Management>,
    /// Whose `X-Forwarded-For` names the client: sign-ins are throttled by the client's address.
    pub proxies: Proxies,
    /// The bounds of forms.
    pub body: BodySettings,
    /// How quickly refusals are answered.
    pub refusals: RefusalSettings,
    /// How long one request may take, its form included.
    pub deadline: Duration,
    /// The URL under which people reach the console. Without it, links that people hand on begin with the host that the
    /// browser asked.
    pub public_url: Option<Url>,
}

/// The endpoint for the console's listener. It always answers: errors are pages.
pub fn console(console: Console) -> impl Endpoint<Output = Response> + 'static {
    let (deadline, refusals) = (console.deadline, console.refusals.clone());
    let errors = ErrorPages::at(console.public_url.as_ref());
    let endpoint = Middleware {
        routes: routes::measured(),
        router: router::Router::new(console, routes::all()).around(csrf::guard),
        deadline,
        errors,
    };
    SlowRefusals::new(endpoint, refusals)
}
