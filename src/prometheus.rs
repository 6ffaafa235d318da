//! The metrics of a process, as Prometheus reads them.

pub(crate) mod database_metrics;
mod descriptions;

use std::{sync::Arc, time::Duration};

use ::api::{ProblemDocuments, Readiness, monitoring_listener::Monitoring};
use http_server::serve;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use queue::Queue;
use store::PgPool;
use tokio::{
    net::TcpListener,
    runtime::{Handle, RuntimeMetrics},
    sync::watch,
    task::{AbortHandle, JoinHandle},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    filter::{Filtered, Targets},
    layer::Context,
};

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
    counter!(STATEMENTS).increment(0);
    let _registered = histogram!(ACQUIRE);
    let mut busy = Busy::start();
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
fn sample_process(started: Instant, pool: &PgPool) {
    gauge!("gatehouse_uptime_seconds").set(started.elapsed().as_secs_f64());
    process().collect();
    let metrics = Handle::current().metrics();
    gauge!("gatehouse_runtime_tasks").set(metrics.num_alive_tasks() as f64);
    gauge!("gatehouse_runtime_queue_depth").set(metrics.global_queue_depth() as f64);
    let idle = pool.num_idle();
    let size = usize::try_from(pool.size()).unwrap_or(usize::MAX);
    gauge!("gatehouse_db_pool_connections", "state" => "idle").set(idle as f64);
    gauge!("gatehouse_db_pool_connections", "state" => "busy")
        .set(size.saturating_sub(idle) as f64);
}

/// Counters of Postgres. They may fall, after a failover for example, which our recorder does not
/// let a counter do. So it keeps them as gauges.
const FOREIGN_COUNTERS: [&str; 2] = [
    "gatehouse_wal_archive_failures_total",
    "gatehouse_wal_bytes_total",
];

/// What Prometheus gets: without the values that this process does not know at present (NaN), and
/// with the right type of foreign counters.
fn page(rendered: &str) -> String {
    let mut page = String::with_capacity(rendered.len());
    for line in rendered.split_inclusive('\n') {
        if !line.starts_with('#') && line.trim_end().ends_with(" NaN") {
            continue;
        }
        match foreign_counter(line) {
            Some(name) => page.extend(["# TYPE ", name, " counter\n"]),
            None => page.push_str(line),
        }
    }
    page
}

/// The foreign counter whose type this line has.
fn foreign_counter(line: &str) -> Option<&'static str> {
    let described = line.strip_prefix("# TYPE ")?;
    let name = described.split(' ').next()?;
    FOREIGN_COUNTERS
        .into_iter()
        .find(|foreign| *foreign == name)
}

// sqlx reports its statements and connections as events: one for each statement that it has sent, when its last row was read or its answer
// was given up, and one for each connection that a pool gave out. The statements within a batch (`raw_sql`) count as one, `begin` and
// `commit` count, preparing a statement does not. Events about slow statements and slow pools are the same events at a higher level.
const STATEMENTS: &str = "gatehouse_sql_statements_total";
const ACQUIRE: &str = "gatehouse_db_acquire_seconds";

/// The targets of sqlx's events begin with this.
const SQLX: &str = "sqlx";
/// The rest of the target for statements.
const STATEMENT: &str = "::query";
/// The rest of the target for connections that a pool gave out.
const ACQUIRED: &str = "::pool::acquire";
/// The field with the time until then.
const ACQUIRED_AFTER: &str = "acquired_after_secs";

/// Counts the SQL statements of the process, and measures how long callers wait for a connection of a pool. It listens to sqlx, whatever
/// is logged.
pub(crate) struct Statements;

impl Statements {
    pub(crate) fn layer<S: Subscriber>() -> Filtered<Self, Targets, S> {
        Self.with_filter(Targets::new().with_target(SQLX, Level::DEBUG))
    }
}

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        match event.metadata().target().strip_prefix(SQLX) {
            Some(STATEMENT) => counter!(STATEMENTS).increment(1),
            Some(ACQUIRED) => event.record(&mut Wait),
            _ => {}
        }
    }
}

/// Records the time that an event has.
struct Wait;

impl Visit for Wait {
    fn record_f64(&mut self, field: &Field, seconds: f64) {
        if field.name() == ACQUIRED_AFTER {
            histogram!(ACQUIRE).record(seconds);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Measures how busy the runtime's threads were since the last measurement.
struct Busy {
    metrics: RuntimeMetrics,
    measured: Instant,
    until_then: Duration,
}

impl Busy {
    fn start() -> Self {
        let metrics = Handle::current().metrics();
        gauge!("gatehouse_runtime_workers").set(float(metrics.num_workers()));
        gauge!("gatehouse_runtime_busy_ratio").set(0.0);
        Self {
            measured: Instant::now(),
            until_then: busy(&metrics),
            metrics,
        }
    }

    /// Sets the gauge: 1 if all threads ran tasks all the time.
    fn measure(&mut self) {
        let (measured, busy) = (Instant::now(), busy(&self.metrics));
        let threads = float(self.metrics.num_workers());
        let passed = (measured - self.measured).as_secs_f64() * threads;
        if passed > 0.0 {
            let ratio = busy.saturating_sub(self.until_then).as_secs_f64() / passed;
            gauge!("gatehouse_runtime_busy_ratio").set(ratio.min(1.0));
        }
        (self.measured, self.until_then) = (measured, busy);
    }
}

fn busy(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers())
        .map(|worker| metrics.worker_total_busy_duration(worker))
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "these numbers are small")]
fn float(number: usize) -> f64 {
    number as f64
}

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
    let text = Box::new(move || {
        sample_process(started, &pool);
        sample();
        page(&metrics.render())
    });
    let endpoint = ::api::monitoring_listener::monitoring(Monitoring { page: text, ready });
    tokio::spawn(serve::serve(
        listener,
        endpoint,
        Arc::new(ProblemDocuments),
        serve::Settings {
            connections: service::MONITORING_CONNECTIONS,
            ..serve::Settings::default()
        },
        stop.cancelled_owned(),
    ))
}

/// Publishes figures about the whole database as long as this process is one of the two that do.
pub(crate) fn publish_figures(pool: &PgPool, queue: &Queue) -> AbortHandle {
    let publishing = database_metrics::publish(pool.clone(), queue.clone());
    tokio::spawn(publishing).abort_handle()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_foreign_counters_are_counters() {
        let rendered = "# HELP a An NaN\n# TYPE a gauge\na{b=\"NaN\"} 1\na{b=\"c\"} NaN\n\n\
                        # TYPE gatehouse_wal_bytes_total gauge\ngatehouse_wal_bytes_total 5\n";
        assert_eq!(
            page(rendered),
            "# HELP a An NaN\n# TYPE a gauge\na{b=\"NaN\"} 1\n\n\
             # TYPE gatehouse_wal_bytes_total counter\ngatehouse_wal_bytes_total 5\n"
        );
    }
}
