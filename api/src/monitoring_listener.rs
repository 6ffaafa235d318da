//! The second listener of every process: `/metrics` for Prometheus, and the probes. It is meant for a private network.

use http_server::{DEADLINE, Middleware, Routes};
use poem::{Endpoint, Response, Route, endpoint::make_sync, get, http::Method};
use tokio::sync::watch;

use crate::{ProblemDocuments, Readiness, probes};

/// What the monitoring endpoints show.
pub struct Monitoring {
    /// Renders the metrics, for each request anew, so it must be quick.
    pub page: Box<dyn Fn() -> String + Send + Sync>,
    /// Whether the process can work.
    pub ready: watch::Receiver<Readiness>,
}

const METRICS: &str = "/metrics";

/// The endpoint to [`http_server::serve::serve`] on the monitoring address.
pub fn monitoring(monitoring: Monitoring) -> impl Endpoint<Output = Response> + 'static {
    let Monitoring { page, ready } = monitoring;
    let render = make_sync(move |_| {
        Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .body(page())
    });
    let router = probes::mount(Route::new().at(METRICS, get(render)), ready);
    let paths = probes::paths().chain([(METRICS.to_owned(), vec![Method::GET])]);
    Middleware {
        router,
        routes: Routes::new(paths),
        deadline: DEADLINE,
        errors: ProblemDocuments,
    }
}
