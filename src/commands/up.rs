//! `gatehouse up`: everything in one process, on a private Postgres, ready to try out.

mod first_start;
mod prepare;
mod welcome;

use std::{path::PathBuf, time::Duration};

use ::api::Readiness;
use anyhow::bail;
use database::{Hosts, Watch};
use management::Workbench;
use queue::Queue;
use store::seal::MasterKey;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use workers::{Context, Settings, outbound::Outbound};

use super::{api, worker};
use crate::{
    config::UpOptions,
    darkroom,
    data_dir::DataDir,
    demo::{Addresses, Consent},
    demo_file::Demo,
    embedded_postgres::EmbeddedPostgres,
    open_files::{self, Wanted},
    service, telemetry,
};
use first_start::{master_key, prepare_database, prepare_demo};
use welcome::print_welcome;

pub(crate) use prepare::{Prepared, prepare};

const CLOSE: Duration = Duration::from_secs(5);

/// Runs until it is told to stop.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        options,
        data,
        listener,
        monitoring,
        program,
    } = prepared;
    let listener = TcpListener::from_std(listener)?;
    let monitoring = TcpListener::from_std(monitoring)?;
    let master_key = master_key(&data)?;
    let stop = service::stop_signal()?;

    let (postgres, url) = if let Some(url) = &options.database_url {
        (None, url.clone())
    } else {
        // Creating a database, or downloading Postgres first, can take a while.
        let postgres = tokio::select! {
            postgres = EmbeddedPostgres::start(&data) => postgres?,
            () = stop.cancelled() => return Ok(()),
        };
        let url = postgres.url().to_owned();
        (Some(postgres), url)
    };
    let hosts = Hosts::parse(&url)?.with_writable_first().await?;
    let pool = database::pool(&hosts, "gatehouse up", options.pool.settings());
    let watch = database::watch(hosts, pool.clone());
    let served = serve(
        options, &data, &watch, master_key, listener, monitoring, program, stop,
    )
    .await;
    // From here on, closed connections are expected and not reported.
    drop(watch);
    // Postgres always stops last.
    pool.close().await;
    if let Some(postgres) = postgres {
        postgres.stop().await;
    }
    served
}

#[expect(clippy::too_many_arguments, reason = "what `up` has prepared")]
async fn serve(
    options: UpOptions,
    data: &DataDir,
    watch: &Watch,
    master_key: MasterKey,
    listener: TcpListener,
    monitoring: TcpListener,
    program: PathBuf,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let pool = watch.pool();
    prepare_database(pool, &master_key).await?;
    let addresses = Addresses {
        base_url: format!("http://{}/functions/v1", listener.local_addr()?),
        metrics_url: format!("http://{}/metrics", monitoring.local_addr()?),
    };
    let consent = if options.database_url.is_none() || options.demo {
        Consent::Given
    } else {
        Consent::IfEmpty
    };
    // Start metrics before the queue is opened: the queue describes its metrics then.
    let metrics = telemetry::start_metrics()?;
    let queue = Queue::open(pool.clone(), options.work.queue())?;
    let demo = prepare_demo(
        &options,
        data,
        pool,
        &queue,
        &master_key,
        consent,
        addresses,
    )
    .await?;
    let exemption = demo.as_ref().and_then(Demo::exemption);
    let providers = options.work.providers.load()?;

    let (ready, readiness) = watch::channel(Readiness::Ready);
    let quiet = CancellationToken::new();
    let concurrency = options.work.concurrency.into();
    let own = service::own_files(options.pool) + api::INTERFACE_FILES;
    let files = open_files::divide(Wanted {
        clients: options.http.connections(),
        outbound: options.outbound.bounds(concurrency),
        own: own + worker::provider_files(concurrency),
    })?;
    let outbound = Outbound::new(options.egress.policy(exemption), files.outbound);
    let analyse = api::analyse(providers.clone());
    let interface = api::interface(
        &options.http,
        pool,
        &queue,
        &master_key,
        Workbench::new(options.rules.limits(), Some(analyse)),
        api::outlet(outbound.clone(), watch.clock()),
        darkroom::develop(program),
        readiness.clone(),
    );
    watch.lead(interface.management.pool.clone());
    let context = Context {
        pool: pool.clone(),
        queue: queue.clone(),
        master_key,
        providers,
        patience: options.work.patience(),
        answers_per_team: options.work.answer_cache_entries,
        outbound,
        clock: watch.clock(),
        rules: options.rules.settings(options.work.kept_rules),
        animations: options.work.animations.settings(),
    };
    print_welcome(data, &listener, &monitoring, demo.as_ref())?;
    let sample = api::sample(&interface);
    let monitoring = service::serve_monitoring(
        monitoring,
        metrics,
        pool.clone(),
        readiness,
        quiet.clone(),
        sample,
    );

    // Stop in order: accept nothing new, let running jobs end, then write their results.
    let server = api::serve(
        &options.http,
        files.clients,
        // No other process serves meanwhile, so lingering is of no use.
        Duration::ZERO,
        listener,
        interface,
        stop.clone(),
    );
    let drained = CancellationToken::new();
    let settings = Settings {
        concurrency,
        grace: options.work.grace(),
        ..Settings::default()
    };
    let mut workers = tokio::spawn(workers::run(context, settings, drained.clone()));
    tokio::select! {
        () = stop.cancelled() => {}
        ended = &mut workers => {
            ended??;
            bail!("the workers ended unexpectedly");
        }
    }
    ready.send_replace(service::stopping());
    server.await??;
    drained.cancel();
    workers.await??;
    queue.close(CLOSE).await;
    quiet.cancel();
    monitoring.await??;
    Ok(())
}
