//! `gatehouse api`: the HTTP interface.

use std::time::Duration;

use ::api::{Public, ServeSettings};
use queue::Queue;
use store::{PgPool, accept, accept::Acceptor, schema, site::Sites, status::Statuses};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::{
    config::{self, ApiOptions},
    service, telemetry,
};

/// How long outcomes may take to be written when the process stops; this one has none of its own.
const CLOSE: Duration = Duration::from_secs(5);

/// Runs until it is told to stop.
pub(crate) async fn run(options: ApiOptions) -> anyhow::Result<()> {
    telemetry::start_logs()?;
    let key = config::required_master_key()?;
    let pool = schema::pool(&options.database.database_url, "gatehouse api", options.database.pool.settings())?;
    let listener = service::bind(options.listen.listen, "--listen").await?;
    let operations = service::bind(options.metrics.metrics_listen, "--metrics-listen").await?;
    let metrics = telemetry::start_metrics()?;
    let stop = service::stop_signal()?;
    let (ready, readiness) = watch::channel(false);

    let quiet = CancellationToken::new();
    let operations = service::serve_operations(operations, metrics, pool.clone(), readiness.clone(), quiet.clone());
    let queue = Queue::open(pool.clone(), queue::Config::default());
    let server = serve(listener, &pool, &queue, readiness, stop.clone());
    if service::wait_for_schema(&pool, Some(&key), &stop).await? {
        ready.send_replace(true);
        info!(address = %options.listen.listen, "ready");
        stop.cancelled().await;
    }
    ready.send_replace(false);
    server.await??;
    queue.close(CLOSE).await;
    quiet.cancel();
    operations.await??;
    pool.close().await;
    Ok(())
}

/// Serves the interface until `stop`, then lets open requests end.
pub(crate) fn serve(
    listener: TcpListener,
    pool: &PgPool,
    queue: &Queue,
    ready: watch::Receiver<bool>,
    stop: CancellationToken,
) -> JoinHandle<std::io::Result<()>> {
    let context = Public {
        sites: Sites::new(pool.clone()),
        acceptor: Acceptor::start(pool.clone(), queue.clone(), accept::Settings::default()),
        statuses: Statuses::new(pool.clone()),
        ready,
    };
    let endpoint = ::api::public(context);
    tokio::spawn(::api::serve(listener, endpoint, ServeSettings::default(), stop.cancelled_owned()))
}
