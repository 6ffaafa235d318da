//! `gatehouse worker`: works on jobs.

use std::time::Duration;

use queue::Queue;
use store::schema;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use workers::{Context, Settings, outbound::Outbound};

use crate::{
    config::{self, WorkerOptions},
    service, telemetry,
};

/// How long outcomes may take to be written after the last job ended.
const CLOSE: Duration = Duration::from_secs(5);

/// Runs until it is told to stop, then drains.
pub(crate) async fn run(options: WorkerOptions) -> anyhow::Result<()> {
    telemetry::start_logs()?;
    service::warn_root();
    let master_key = config::required_master_key()?;
    let providers = options.work.providers.load()?;
    let pool = schema::pool(
        &options.database.database_url,
        "gatehouse worker",
        options.database.pool.settings(),
    )?;
    let operations = service::bind(options.metrics.metrics_listen, "--metrics-listen")?;
    let operations = TcpListener::from_std(operations)?;
    let metrics = telemetry::start_metrics()?;
    let stop = service::stop_signal()?;
    let (ready, readiness) = watch::channel(service::starting());

    let quiet = CancellationToken::new();
    let operations = service::serve_operations(
        operations,
        metrics,
        pool.clone(),
        readiness,
        quiet.clone(),
        || {},
    );
    if service::wait_for_schema(&pool, &master_key, &ready, &stop).await? {
        let queue = Queue::open(pool.clone(), options.work.queue())?;
        let context = Context {
            pool: pool.clone(),
            queue: queue.clone(),
            master_key,
            providers,
            patience: options.work.patience(),
            outbound: Outbound::new(options.egress.policy(None)),
        };
        let settings = Settings {
            queues: options.queues,
            concurrency: options.work.concurrency.into(),
            grace: options.work.grace(),
        };
        workers::run(context, settings, stop).await?;
        queue.close(CLOSE).await;
    }
    quiet.cancel();
    operations.await??;
    pool.close().await;
    Ok(())
}
