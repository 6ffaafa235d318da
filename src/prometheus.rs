//! The metrics of a process, as Prometheus reads them.

pub(crate) mod database_metrics;
mod descriptions;
mod exposition;
mod sql_statements;
mod tokio_runtime;

use std::time::Duration;

use metrics::gauge;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use store::PgPool;
use tokio::time::Instant;

pub(crate) use self::sql_statements::Statements;
use crate::service;

/// Milliseconds to minutes: requests, jobs, deliveries.
const SECONDS: [f64; 16] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];
/// Milliseconds to a day: what may wait for receivers, for people, or for a database that is away.
const LONG: [f64; 20] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 900.0, 3_600.0, 14_400.0, 86_400.0,
];
/// The metrics with these buckets.
const LONG_WAITS: [&str; 3] = [
    "gatehouse_job_wait_seconds",
    "gatehouse_time_to_decision_seconds",
    "gatehouse_webhook_delivery_seconds",
];
const ROWS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// From an icon to the largest file that is accepted.
const BYTES: [f64; 7] = [
    1_024.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    10_485_760.0,
];

/// Starts recording metrics, of a process that does this.
pub(crate) fn start(role: &'static str) -> anyhow::Result<PrometheusHandle> {
    let mut recorder = PrometheusBuilder::new();
    for name in LONG_WAITS {
        recorder = recorder.set_buckets_for_metric(Matcher::Full(name.into()), &LONG)?;
    }
    let handle = recorder
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_rows".into()), &ROWS)?
        .set_buckets_for_metric(Matcher::Suffix("_image_bytes".into()), &BYTES)?
        .install_recorder()?;
    descriptions::describe();
    process().describe();
    database::expect_no_errors();
    sql_statements::expect_none();
    let mut busy = tokio_runtime::Busy::start();
    gauge!(
        "gatehouse_build_info",
        "version" => env!("CARGO_PKG_VERSION"), "role" => role, "host" => service::host()
    )
    .set(1.0);
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            upkeep.run_upkeep();
            busy.measure();
        }
    });
    Ok(handle)
}

/// The metrics of every process of any program: processor time, memory, open files, threads. They have Prometheus's usual names.
fn process() -> metrics_process::Collector {
    metrics_process::Collector::default()
}

/// Updates the gauges that are read only when metrics are requested.
#[expect(
    clippy::cast_precision_loss,
    reason = "gauges are floats, and these numbers are small"
)]
pub(crate) fn sample(started: Instant, pool: &PgPool) {
    gauge!("gatehouse_uptime_seconds").set(started.elapsed().as_secs_f64());
    process().collect();
    tokio_runtime::sample();
    let idle = pool.num_idle();
    let size = usize::try_from(pool.size()).unwrap_or(usize::MAX);
    gauge!("gatehouse_db_pool_connections", "state" => "idle").set(idle as f64);
    gauge!("gatehouse_db_pool_connections", "state" => "busy")
        .set(size.saturating_sub(idle) as f64);
}

/// The text of `/metrics`.
pub(crate) fn render(metrics: &PrometheusHandle) -> String {
    exposition::page(&metrics.render())
}
