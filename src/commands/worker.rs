//! `gatehouse worker`: works on jobs.

use std::time::Duration;

use queue::Queue;
use store::verdict_waiters::{Part, VerdictWaiters};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use workers::{Context, Settings, outbound::Outbound};

use crate::{
    config::{self, WorkerOptions},
    logs,
    open_files::{self, Wanted},
    otlp::Export,
    prometheus, service,
};

/// How long results may take to be written after the last job ended.
const CLOSE: Duration = Duration::from_secs(5);

/// File descriptors for connections to providers: one in use for each item that is analysed, and
/// one kept for the next.
pub(super) const fn provider_files(concurrency: usize) -> usize {
    2 * concurrency
}

/// Runs until it is told to stop, then lets running jobs end.
pub(crate) async fn run(options: WorkerOptions) -> anyhow::Result<()> {
    logs::start()?;
    service::warn_root();
    super::warn_of_unknown_variables(options.work.providers.file());
    let master_key = config::required_master_key()?;
    let providers = options.work.providers.load()?;
    let hosts = options.database.database()?.hosts;
    let settings = options.database.pool.settings_beside_claims();
    let pool = database::pool(&hosts, "gatehouse worker", settings);
    let monitoring = service::bind(options.metrics.metrics_listen, "--metrics-listen")?;
    let monitoring = TcpListener::from_std(monitoring)?;
    let connections = service::own_connections(options.database.pool);
    let process = service::process_name("worker", monitoring.local_addr()?, connections);
    let metrics = prometheus::start("worker")?;
    let export = Export::start(&options.otlp)?;
    let stop = service::stop_signal()?;
    let (ready, readiness) = watch::channel(service::starting());
    service::tell_systemd(readiness.clone(), stop.clone());
    let database = database::watch(hosts, pool.clone());

    let quiet = CancellationToken::new();
    let monitoring = prometheus::serve_monitoring(
        monitoring,
        metrics,
        pool.clone(),
        readiness,
        quiet.clone(),
        || {},
    );
    if service::wait_for_schema(&pool, &master_key, &ready, &stop).await? {
        tokio::spawn(service::warn_of_too_many(pool.clone(), connections));
        let queue = Queue::open_as(
            pool.clone(),
            options.work.queue(options.database.pool.claims()),
            process,
        )?;
        database.lead(queue.claims().clone());
        let figures = prometheus::publish_figures(&pool, &queue);
        let concurrency = options.work.concurrency.into();
        let files = open_files::divide(Wanted {
            clients: 0,
            browsers: 0,
            outbound: options.outbound.bounds(concurrency),
            own: service::own_files(options.database.pool) + provider_files(concurrency),
        })?;
        let policy = options.egress.policy(None);
        let context = Context {
            pool: pool.clone(),
            queue: queue.clone(),
            master_key,
            providers,
            patience: options.work.patience(),
            answers_per_team: options.work.answer_cache_entries,
            outbound: Outbound::new(policy, files.outbound),
            clock: database.clock(),
            awaited: VerdictWaiters::start(&pool, Part::Workers),
            rules: options.rules.settings(options.work.kept_rules),
            animations: options.work.animations.settings(),
        };
        let settings = Settings {
            queues: options.queues,
            concurrency,
            grace: options.work.grace(),
        };
        workers::run(context, settings, stop).await?;
        figures.abort();
        queue.close(CLOSE).await;
    }
    export.finish().await;
    quiet.cancel();
    monitoring.await??;
    pool.close().await;
    Ok(())
}
