//! `gatehouse up`: everything in one process, on a private Postgres, ready to try out.

mod prepare;

use std::{io::Write as _, net::SocketAddr, sync::Arc, time::Duration};

use ::api::Readiness;
use anyhow::bail;
use database::{Hosts, Watch};
use domain::key::LinkSecret;
use management::{TrialPool, account::first_operator};
use queue::Queue;
use store::{
    encryption::MasterKey,
    verdict_waiters::{Part, VerdictWaiters},
};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use workers::{Context, Settings, outbound::Outbound};

use super::{api, console, worker};
use crate::{
    command_line::told,
    config::UpOptions,
    data_dir::DataDir,
    demo::{Addresses, Consent},
    demo_file::Demo,
    embedded_postgres::EmbeddedPostgres,
    open_files::{self, Division, Wanted},
    otlp::Export,
    preview_sandbox, prometheus, service,
};
use prepare::{master_key, prepare_database, prepare_demo};

pub(crate) use prepare::{Prepared, prepare};

const CLOSE: Duration = Duration::from_secs(5);

/// Runs until it is told to stop.
pub(crate) async fn run((data, mut prepared): (DataDir, Prepared)) -> anyhow::Result<()> {
    let master_key = master_key(&data)?;
    let stop = service::stop_signal()?;

    let hosts = prepared.hosts.take();
    let demo = if hosts.is_none() || prepared.options.demo {
        Consent::Given
    } else {
        Consent::IfEmpty
    };
    let (postgres, hosts) = if let Some(hosts) = hosts {
        (None, hosts)
    } else {
        // Creating a database, or downloading Postgres first, can take a while.
        let postgres = tokio::select! {
            postgres = EmbeddedPostgres::start(&data) => postgres?,
            () = stop.cancelled() => return Ok(()),
        };
        let hosts = Hosts::parse(postgres.url())?;
        (Some(postgres), hosts)
    };
    let hosts = hosts.with_writable_first().await?;
    let settings = prepared.options.pool.settings_beside_claims();
    let pool = database::pool(&hosts, "gatehouse up", settings);
    let watch = database::watch(hosts, pool.clone());
    let served = Box::pin(serve(prepared, &data, &watch, (master_key, demo), stop)).await;
    // From here on, closed connections are expected and not reported.
    drop(watch);
    // Postgres always stops last.
    pool.close().await;
    if let Some(postgres) = postgres {
        postgres.stop().await;
    }
    served
}

/// How the open files are divided.
fn files(options: &UpOptions, has_console: bool) -> anyhow::Result<Division> {
    let concurrency = options.work.concurrency.into();
    open_files::divide(Wanted {
        clients: options.http.connections(),
        browsers: if has_console { console::CONNECTIONS } else { 0 },
        outbound: options.outbound.bounds(concurrency),
        own: service::own_files(options.pool)
            + api::INTERFACE_FILES
            + worker::provider_files(concurrency),
    })
}

#[expect(
    clippy::too_many_lines,
    reason = "it starts the parts one after the other, and each needs some before it"
)]
async fn serve(
    prepared: Prepared,
    data: &DataDir,
    watch: &Watch,
    (master_key, demo): (MasterKey, Consent),
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Prepared {
        options,
        listener,
        browsers,
        monitoring,
        program,
        sign_on,
        ..
    } = prepared;
    let listener = TcpListener::from_std(listener)?;
    let monitoring = TcpListener::from_std(monitoring)?;
    let (interface_at, metrics_at) = (listener.local_addr()?, monitoring.local_addr()?);
    let pool = watch.pool();
    prepare_database(pool, &master_key).await?;
    let addresses = Addresses {
        base_url: format!("http://{interface_at}/functions/v1"),
        metrics_url: format!("http://{metrics_at}/metrics"),
    };
    // Start metrics before the queue is opened: the queue describes its metrics then.
    let metrics = prometheus::start("up")?;
    let export = Export::start(&options.otlp)?;
    let connections = service::own_connections(options.pool) + api::INTERFACE_CONNECTIONS;
    let process = service::process_name("up", metrics_at, connections);
    let queue = Queue::open_as(
        pool.clone(),
        options.work.queue(options.pool.claims()),
        process,
    )?;
    let figures = prometheus::publish_figures(pool, &queue);
    let demo = prepare_demo(&options, data, pool, &queue, &master_key, addresses, demo).await?;
    let exemption = demo.as_ref().and_then(Demo::exemption);
    let providers = options.work.providers.load()?;

    let (ready, readiness) = watch::channel(Readiness::Ready);
    service::tell_systemd(readiness.clone(), stop.clone());
    let quiet = CancellationToken::new();
    let files = files(&options, browsers.is_some())?;
    let outbound = Outbound::new(options.egress.policy(exemption), files.outbound);
    let analyse = api::analyse(providers.clone());
    let awaited = VerdictWaiters::start(pool, Part::Both);
    let interface = api::interface(
        &options.http,
        pool,
        &queue,
        awaited.clone(),
        &master_key,
        TrialPool::new(options.rules.limits(), Some(analyse)),
        api::endpoint_checks(outbound.clone(), watch.clock()),
        preview_sandbox::spawn(program),
        sign_on,
        readiness.clone(),
    );
    watch.lead(interface.management.pool.clone());
    watch.lead(queue.claims().clone());
    let context = Context {
        pool: pool.clone(),
        queue: queue.clone(),
        master_key,
        providers,
        patience: options.work.patience(),
        answers_per_team: options.work.answer_cache_entries,
        outbound,
        clock: watch.clock(),
        awaited,
        rules: options.rules.settings(options.work.kept_rules),
        animations: options.work.animations.settings(),
    };
    let origin = console::where_served(&options.console, browsers.as_ref())?;
    // While nobody runs the instance, the link makes its user the first operator, who will own the demo team, too.
    let team = demo.as_ref().map(|demo| demo.team_id);
    let first = match &origin {
        Some(_) => first_operator::link(&interface.management, team)
            .await
            .map_err(told)?,
        None => None,
    };
    print_welcome(
        data,
        (interface_at, metrics_at),
        (origin.as_deref(), first.as_ref()),
        demo.as_ref(),
    )?;
    let sample = api::sample(&interface);
    let monitoring = prometheus::serve_monitoring(
        monitoring,
        metrics,
        pool.clone(),
        readiness,
        quiet.clone(),
        sample,
    );

    let pages = console::serve(
        &options.http,
        Duration::ZERO,
        &options.console,
        (browsers, files.browsers),
        Arc::clone(&interface.management),
        stop.clone(),
    )?;
    let server = api::serve(
        &options.http,
        files.clients,
        // No other process serves meanwhile, so draining is of no use.
        Duration::ZERO,
        listener,
        interface,
        stop.clone(),
    );
    let drained = CancellationToken::new();
    // Every queue, with the jobs at once that the options give each.
    let settings = Settings {
        concurrency: options.work.concurrency.into(),
        grace: options.work.grace(),
        ..Settings::default()
    };
    let mut workers = tokio::spawn(workers::run(context, settings, drained.clone()));
    let running = async {
        tokio::select! {
            () = stop.cancelled() => {}
            ended = &mut workers => {
                ended??;
                bail!("the workers ended unexpectedly");
            }
        }
        // In order: accepts nothing new, lets running jobs end, then writes their results.
        ready.send_replace(service::stopping());
        server.await??;
        pages.await??;
        drained.cancel();
        workers.await??;
        figures.abort();
        queue.close(CLOSE).await;
        quiet.cancel();
        monitoring.await??;
        anyhow::Ok(())
    };
    let ended = running.await;
    export.finish().await;
    ended
}

/// Prints where everything is, and the link that makes its user the first operator.
fn print_welcome(
    data: &DataDir,
    (api, metrics): (SocketAddr, SocketAddr),
    (console, first): (Option<&str>, Option<&LinkSecret>),
    demo: Option<&Demo>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let dir = data.path().display();
    writeln!(out, "Gatehouse is up.\n")?;
    match (console, first) {
        (Some(origin), Some(link)) => {
            writeln!(
                out,
                "  Open this link to create the first account. It works once, for three days:\n"
            )?;
            writeln!(out, "  {}\n", ::console::public_url::link(origin, link))?;
        }
        (Some(origin), None) => writeln!(out, "  Console      {origin}/")?,
        (None, _) => {}
    }
    writeln!(out, "  Interface    http://{api}/functions/v1")?;
    writeln!(out, "  Description  http://{api}/docs")?;
    writeln!(out, "  Metrics      http://{metrics}/metrics")?;
    writeln!(out, "  Data         {dir}")?;
    if let Some(demo) = demo {
        writeln!(out, "  Demo         {dir}/demo.json (keys and ids)")?;
        match &demo.webhook_url {
            Some(url) => writeln!(out, "  Webhooks     {url}")?,
            None => writeln!(
                out,
                "  Webhooks     none yet: add --webhook-url http://127.0.0.1:9000/"
            )?,
        }
        writeln!(out, "\nTry it in another terminal:\n")?;
        writeln!(
            out,
            "  key=$(sed -n 's/.*\"site_key\": \"\\(.*\\)\".*/\\1/p' {dir}/demo.json)"
        )?;
        writeln!(
            out,
            "  curl http://{api}/functions/v1/submit-media -H 'Content-Type: application/json' \\"
        )?;
        writeln!(
            out,
            "    -d \"{{\\\"api_key\\\": \\\"$key\\\", \\\"body\\\": \\\"this is a blockedword\\\"}}\""
        )?;
    }
    if cfg!(debug_assertions) {
        writeln!(
            out,
            "\nThis program is built without optimisation, for a first look. To measure Gatehouse or to use it, build it with --release."
        )?;
    }
    writeln!(out, "\nCtrl-C stops everything in order.")?;
    out.flush()?;
    Ok(())
}
