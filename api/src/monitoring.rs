//! The second listener of every process: `/metrics` for Prometheus, and the probes. It is meant for a private network.

use front::{DEADLINE, Front, Routes};
use metrics_exporter_prometheus::PrometheusHandle;
use poem::{Endpoint, Response, Route, endpoint::make_sync, get, http::Method};
use tokio::sync::watch;

use crate::{ProblemDocuments, Readiness, probes};

/// What the monitoring endpoints show.
pub struct Monitoring {
    /// The metrics.
    pub metrics: PrometheusHandle,
    /// Updates the sampled gauges. It is called before each rendering, so it must be quick.
    pub sample: Box<dyn Fn() + Send + Sync>,
    /// Whether the process can work.
    pub ready: watch::Receiver<Readiness>,
}

const METRICS: &str = "/metrics";

/// The endpoint to [`front::serve::serve`] on the monitoring address.
pub fn monitoring(monitoring: Monitoring) -> impl Endpoint<Output = Response> + 'static {
    let Monitoring {
        metrics,
        sample,
        ready,
    } = monitoring;
    let render = make_sync(move |_| {
        sample();
        Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .body(metrics.render())
    });
    let router = probes::mount(Route::new().at(METRICS, get(render)), ready);
    let paths = probes::paths().chain([(METRICS.to_owned(), vec![Method::GET])]);
    Front {
        router,
        routes: Routes::new(paths),
        deadline: DEADLINE,
        words: ProblemDocuments,
    }
}
