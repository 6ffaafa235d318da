//! The console: pages with which owners, moderators and operators do in a browser what the management interface does for
//! programs.
//!
//! It is a face of `management`. A page reads a form into typed values, calls one use case as the person who is signed in,
//! and shows the result or why it was refused. It has no rule and no SQL of its own. All pages work without scripts.

mod account;
mod assets;
mod cookie;
mod door;
mod form;
mod page;
mod problems;
mod protection;
mod qr;
mod router;
mod routes;
mod rules;
mod sites;
mod start;
mod time;
mod trouble;
mod visit;

use std::sync::Arc;

use management::Management;
use poem::{Endpoint, EndpointExt as _, Response};
use shares::Proxies;

pub use router::Needs;
pub use routes::list as routes;

/// What the console works with.
pub struct Console {
    /// The use cases.
    pub management: Arc<Management>,
    /// Whose `X-Forwarded-For` names the client: sign-ins are throttled by the client's address.
    pub proxies: Proxies,
}

/// The endpoint for the console's listener. It always answers: errors are pages.
pub fn console(console: Console) -> impl Endpoint<Output = Response> + 'static {
    router::Router::new(console, routes::all()).around(protection::guard)
}
