//! The console: pages with which owners, moderators and operators do in a browser what the management interface does for
//! programs.
//!
//! It is a face of `management`. A page reads a form into typed values, calls one use case as the person who is signed in,
//! and shows the result or why it was refused. It has no rule and no SQL of its own. All pages work without scripts.

mod account;
mod assets;
mod cookie;
mod dead_jobs;
mod door;
mod form;
mod number;
mod page;
mod problems;
mod protection;
mod providers;
mod qr;
mod queues;
mod router;
mod routes;
mod sites;
mod start;
mod time;
mod trouble;
mod usage;
mod visit;
mod words;

use std::{sync::Arc, time::Duration};

use front::{BodySettings, Front, RefusalSettings, Unhurried};
use management::Management;
use poem::{Endpoint, EndpointExt as _, Response};
use shares::Proxies;

pub use router::Needs;
pub use routes::list as routes;
pub use words::Pages;

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
}

/// The endpoint for the console's listener. It always answers: errors are pages.
pub fn console(console: Console) -> impl Endpoint<Output = Response> + 'static {
    let (deadline, refusals) = (console.deadline, console.refusals.clone());
    let front = Front {
        routes: routes::measured(),
        router: router::Router::new(console, routes::all()).around(protection::guard),
        deadline,
        words: Pages,
    };
    Unhurried::new(front, refusals)
}
