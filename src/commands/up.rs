//! `gatehouse up`: everything in one process, on a private Postgres, ready to be tried.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    net::TcpListener as StdListener,
    path::PathBuf,
    time::Duration,
};

use ::api::Readiness;
use anyhow::{Context as _, bail, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use database::{Hosts, Watch};
use management::Workbench;
use queue::Queue;
use rustix::process::geteuid;
use store::{PgPool, schema, seal::MasterKey};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use tracing::info;
use workers::{
    Context, Settings,
    outbound::{Exemption, HostPort, Outbound},
};

use super::{
    api,
    face::{self, Means},
    worker,
};
use crate::{
    account::{self, Account},
    config::{self, UpOptions},
    data_dir::{self, Audience, DataDir, MASTER_KEY},
    demo::{self, Addresses, Consent, Demo},
    embedded_postgres::EmbeddedPostgres,
    open_files::{self, Wanted},
    service, telemetry,
};

const CLOSE: Duration = Duration::from_secs(5);

/// What needs root where root starts it: the listeners, and the data directory.
pub(crate) struct Prepared {
    options: UpOptions,
    data: DataDir,
    listener: StdListener,
    monitoring: StdListener,
}

/// Binds, gives up root's rights if it has them, and opens the data directory as the user who remains. To be called before
/// there are threads.
pub(crate) fn prepare(mut options: UpOptions) -> anyhow::Result<Prepared> {
    telemetry::start_logs()?;
    let path = match options.data_dir.take() {
        Some(path) => path,
        None => config::default_data_dir()?,
    };
    let listener = service::bind(options.listen.listen, "--listen");
    let monitoring = service::bind(options.metrics.metrics_listen, "--metrics-listen");
    let path = give_up_root(path, options.user.as_deref())?;
    // Of two reasons not to start, the other Gatehouse that runs here is the one to be told.
    let data = DataDir::open(&path)?;
    Ok(Prepared {
        options,
        data,
        listener: listener?,
        monitoring: monitoring?,
    })
}

/// Becomes the account that root runs `up` as, and gives that the data directory; anybody else stays who they are.
fn give_up_root(data_dir: PathBuf, user: Option<&str>) -> anyhow::Result<PathBuf> {
    if !geteuid().is_root() {
        if let Some(user) = user {
            let current = Account::current()?;
            ensure!(
                user == current.name(),
                "only root can start `gatehouse up` for another user: start it as `{user}`, or omit --user"
            );
        }
        return Ok(data_dir);
    }
    let account = Account::for_root(user.unwrap_or(account::DEFAULT))?;
    let data_dir = data_dir::provide(&data_dir, &account)?;
    account.assume()?;
    info!(user = account.name(), "gave up root's rights");
    Ok(data_dir)
}

/// Runs until it is told to stop.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        options,
        data,
        listener,
        monitoring,
    } = prepared;
    let listener = TcpListener::from_std(listener)?;
    let monitoring = TcpListener::from_std(monitoring)?;
    let master_key = master_key(&data)?;
    let stop = service::stop_signal()?;

    let (postgres, url) = if let Some(url) = &options.database_url {
        (None, url.clone())
    } else {
        // Making a database, or fetching Postgres first, may take a while.
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
        options, &data, &watch, master_key, listener, monitoring, stop,
    )
    .await;
    // Nobody need be told of what goes now.
    drop(watch);
    // Whatever happened, Postgres is the last to go.
    pool.close().await;
    if let Some(postgres) = postgres {
        postgres.stop().await;
    }
    served
}

async fn serve(
    options: UpOptions,
    data: &DataDir,
    watch: &Watch,
    master_key: MasterKey,
    listener: TcpListener,
    monitoring: TcpListener,
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
    // Before the queue is opened: it describes its metrics then, and counts from zero.
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

    // In order: first nothing new comes in, then what runs ends, then what ended is written.
    let server = api::serve(
        &options.http,
        files.clients,
        // Nobody else serves while it is away.
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

/// Finds or makes the demo data, if they may be made.
async fn prepare_demo(
    options: &UpOptions,
    data: &DataDir,
    pool: &PgPool,
    queue: &Queue,
    master_key: &MasterKey,
    consent: Consent,
    addresses: Addresses,
) -> anyhow::Result<Option<Demo>> {
    let webhook_url = options.webhook_url.clone();
    // Whoever starts the process may open any address for the demo.
    let target = webhook_url.as_ref().and_then(HostPort::of);
    let exemption = target.map(|target| Exemption { target, team: None });
    let means = Means {
        master_key: Some(master_key.clone()),
        egress: options.egress.policy(exemption),
        rules: options.rules.limits(),
        rules_per_day: options.http.rules_per_day(),
    };
    let management = face::management(pool, queue.clone(), means);
    let demo = demo::prepare(data, &management, consent, addresses, webhook_url).await;
    management.pool.close().await;
    demo
}

/// Brings the database to this version's schema, if it can be worked with and the key is its own.
async fn prepare_database(pool: &PgPool, key: &MasterKey) -> anyhow::Result<()> {
    database::fit(pool).await?;
    schema::migrate(pool)
        .await
        .context("cannot upgrade the database to this version's schema")?;
    service::check_master_key(&mut *pool.acquire().await?, key).await
}

/// The operator's key, or the data directory's own, made at the first start.
fn master_key(data: &DataDir) -> anyhow::Result<MasterKey> {
    if let Some(key) = config::master_key()? {
        return Ok(key);
    }
    let path = data.join(MASTER_KEY);
    match fs::read_to_string(&path) {
        Ok(text) => config::parse_master_key(&text)
            .with_context(|| format!("the master key in {} is unusable", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key: [u8; 32] = rand::random();
            data.write(
                MASTER_KEY,
                format!("{}\n", STANDARD.encode(key)).as_bytes(),
                Audience::Owner,
            )?;
            Ok(MasterKey::new(key))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn print_welcome(
    data: &DataDir,
    listener: &TcpListener,
    monitoring: &TcpListener,
    demo: Option<&Demo>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let (api, metrics) = (listener.local_addr()?, monitoring.local_addr()?);
    let dir = data.path().display();
    writeln!(out, "Gatehouse is up.\n")?;
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
    writeln!(out, "\nCtrl-C stops everything in order.")?;
    out.flush()?;
    Ok(())
}
