//! What the long-running commands have in common: they listen, wait for their schema, and stop in order.

use std::{net::SocketAddr, time::Duration};

use ::api::{Readiness, operations::Operations, serve};
use anyhow::Context as _;
use database::Hosts;
use metrics_exporter_prometheus::PrometheusHandle;
use rustix::{net::listen, process::geteuid};
use store::{Error, PgConnection, PgPool, schema, seal, seal::MasterKey};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    config::{DatabaseOptions, PoolOptions},
    telemetry,
};

/// The queue's own connections to Postgres: `store` and `queue` say what for.
const QUEUE_CONNECTIONS: usize = 4;
/// The one that watches the database.
const WATCH_CONNECTIONS: usize = 1;

const SCHEMA_POLL: Duration = Duration::from_secs(1);

/// What a process says of itself before it is ready.
pub(crate) fn starting() -> Readiness {
    Readiness::NotReady("starting".into())
}

/// What it says when it was told to stop.
pub(crate) fn stopping() -> Readiness {
    Readiness::NotReady("stopping".into())
}

/// The connection of a command that does one thing and ends, to a database that has this binary's schema. Its statements
/// end after a minute, also when nobody waits for them any more.
pub(crate) async fn connect(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgConnection> {
    let pool = open_current(options, name).await?;
    Ok(schema::connect_for_command(&pool).await?)
}

/// The pool of such a command, to a database that has this binary's schema.
pub(crate) async fn open_current(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgPool> {
    let pool = open(options, name).await?;
    anyhow::ensure!(
        schema::is_current(&pool).await?,
        "the database does not have this version's schema: run `gatehouse migrate`"
    );
    Ok(pool)
}

/// The pool of a command that does one thing and ends, on the host that can write. Says what is wrong with the database, if
/// something is.
pub(crate) async fn open(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgPool> {
    let hosts = Hosts::parse(&options.database_url)?;
    let hosts = hosts.with_writable_first().await?;
    let pool = database::pool(&hosts, name, options.pool.settings());
    database::fit(&pool).await?;
    Ok(pool)
}

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1_024;

/// Binds a listener, or says in one line what to do.
pub(crate) fn bind(address: SocketAddr, option: &str) -> anyhow::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address).with_context(|| {
        format!("cannot listen on {address}; stop what uses it or choose another with {option}")
    })?;
    // The standard library lets 128 wait.
    listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    info!(address = %listener.local_addr()?, option, "listening");
    Ok(listener)
}

/// Connections to `/metrics`, `/healthz` and `/readyz`.
pub(crate) const OPERATIONS_CONNECTIONS: usize = 64;

/// Warns who runs the interface or workers as root. Unlike `up` they keep running: many containers have no other user.
pub(crate) fn warn_root() {
    if geteuid().is_root() {
        warn!(
            "running as root: whoever breaks into this process has the machine. Start it as an unprivileged user, such as \
             `gatehouse`"
        );
    }
}

/// What every long-running process opens of its own: to Postgres, for itself and its queue, and for operators.
pub(crate) fn own_files(pool: PoolOptions) -> usize {
    let postgres = pool.settings().connections as usize + QUEUE_CONNECTIONS + WATCH_CONNECTIONS;
    postgres + OPERATIONS_CONNECTIONS + 1
}

/// Cancelled by the first SIGINT or SIGTERM. A second one ends the process at once.
pub(crate) fn stop_signal() -> anyhow::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        for stopping in [false, true] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if stopping {
                warn!("asked twice to stop: ending at once");
                std::process::exit(130);
            }
            info!("stopping");
            token.cancel();
        }
    });
    Ok(stop)
}

/// Serves `/metrics`, `/healthz` and `/readyz` until `stop`. `sample` reads gauges of the caller's own.
pub(crate) fn serve_operations(
    listener: TcpListener,
    metrics: PrometheusHandle,
    pool: PgPool,
    ready: watch::Receiver<Readiness>,
    stop: CancellationToken,
    sample: impl Fn() + Send + Sync + 'static,
) -> JoinHandle<std::io::Result<()>> {
    let started = Instant::now();
    let sample = Box::new(move || {
        telemetry::sample(started, &pool);
        sample();
    });
    let endpoint = ::api::operations::operations(Operations {
        metrics,
        sample,
        ready,
    });
    tokio::spawn(serve::serve(
        listener,
        endpoint,
        serve::Settings {
            connections: OPERATIONS_CONNECTIONS,
            ..serve::Settings::default()
        },
        stop.cancelled_owned(),
    ))
}

/// Waits until the database is there and has this binary's schema, then checks the master key and says that the process
/// is ready. Returns early, with `false`, when the process is to stop.
///
/// From then on it stays ready until it stops: while the database is away every process would be unready, and
/// answering 503 with a time to come back is more use than answering nobody.
///
/// # Errors
/// A master key with which this database's secrets cannot be opened.
pub(crate) async fn wait_for_schema(
    pool: &PgPool,
    key: &MasterKey,
    ready: &watch::Sender<Readiness>,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    let mut told = String::new();
    loop {
        let Some(obstacle) = obstacle(pool, key).await? else {
            ready.send_replace(Readiness::Ready);
            info!("ready");
            return Ok(true);
        };
        if obstacle != told {
            warn!(reason = obstacle, "not ready");
            ready.send_replace(Readiness::NotReady(obstacle.clone()));
            told = obstacle;
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(false),
            () = tokio::time::sleep(SCHEMA_POLL) => {}
        }
    }
}

/// What keeps a process from using the database, if anything.
///
/// # Errors
/// What stays so until somebody changes it.
async fn obstacle(pool: &PgPool, key: &MasterKey) -> anyhow::Result<Option<String>> {
    match database::fit(pool).await {
        Ok(()) => {}
        Err(unfit) if unfit.is_final() => return Err(unfit.into()),
        Err(error) => return Ok(Some(error.to_string())),
    }
    match schema::is_current(pool).await {
        Ok(true) => {}
        Ok(false) => {
            let missing = "the database has not this version's schema yet: run `gatehouse migrate`";
            return Ok(Some(missing.to_owned()));
        }
        Err(error) => return Ok(Some(error.to_string())),
    }
    match check_key(pool, key).await {
        Ok(()) => Ok(None),
        Err(error @ Error::Unreadable(_)) => Err(wrong_key(error)),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// Refuses a master key that did not seal this database's secrets.
pub(crate) async fn check_master_key(
    conn: &mut PgConnection,
    key: &MasterKey,
) -> anyhow::Result<()> {
    seal::check_master_key(conn, key)
        .await
        .map_err(|error| match error {
            error @ Error::Unreadable(_) => wrong_key(error),
            error => error.into(),
        })
}

async fn check_key(pool: &PgPool, key: &MasterKey) -> Result<(), Error> {
    let mut conn = pool.acquire().await?;
    seal::check_master_key(&mut conn, key).await
}

fn wrong_key(error: Error) -> anyhow::Error {
    anyhow::Error::new(error).context(
        "this master key is not the one that the database's secrets were sealed with; use that one",
    )
}
