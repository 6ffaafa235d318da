//! The listener of `/metrics`, `/healthz` and `/readyz`.

use std::sync::Arc;

use ::api::{ProblemDocuments, Readiness, monitoring_listener::Monitoring};
use http_server::serve;
use metrics_exporter_prometheus::PrometheusHandle;
use queue::Queue;
use store::PgPool;
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{AbortHandle, JoinHandle},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::prometheus;

/// Connections to `/metrics`, `/healthz` and `/readyz`.
pub(crate) const MONITORING_CONNECTIONS: usize = 64;

/// Serves `/metrics`, `/healthz` and `/readyz` until `stop`. `sample` updates gauges of the caller
/// before each reading.
pub(crate) fn serve_monitoring(
    listener: TcpListener,
    metrics: PrometheusHandle,
    pool: PgPool,
    ready: watch::Receiver<Readiness>,
    stop: CancellationToken,
    sample: impl Fn() + Send + Sync + 'static,
) -> JoinHandle<std::io::Result<()>> {
    let started = Instant::now();
    let page = Box::new(move || {
        prometheus::sample(started, &pool);
        sample();
        prometheus::render(&metrics)
    });
    let endpoint = ::api::monitoring_listener::monitoring(Monitoring { page, ready });
    tokio::spawn(serve::serve(
        listener,
        endpoint,
        Arc::new(ProblemDocuments),
        serve::Settings {
            connections: MONITORING_CONNECTIONS,
            ..serve::Settings::default()
        },
        stop.cancelled_owned(),
    ))
}

/// Publishes figures about the whole database as long as this process is one of the two that do.
pub(crate) fn publish_figures(pool: &PgPool, queue: &Queue) -> AbortHandle {
    let publishing = prometheus::database_metrics::publish(pool.clone(), queue.clone());
    tokio::spawn(publishing).abort_handle()
}
