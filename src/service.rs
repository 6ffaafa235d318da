//! What the long-running commands have in common: they listen, wait for their schema, and stop in order.

mod command_connections;
mod connection_budget;
mod monitoring;
mod process_name;
mod readiness;
mod span_export;
mod systemd;

use std::{io::ErrorKind, net::SocketAddr};

use ::api::Readiness;
use rustix::{net::listen, process::geteuid};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::PoolOptions;

pub(crate) use command_connections::{connect, open, open_current};
pub(crate) use connection_budget::{Wants, warn_of_too_many};
pub(crate) use monitoring::{MONITORING_CONNECTIONS, publish_figures, serve_monitoring};
pub(crate) use process_name::{host, process_name};
pub(crate) use readiness::{check_master_key, wait_for_schema};
pub(crate) use span_export::start_export;
pub(crate) use systemd::tell_systemd;

/// The queue's own connections to Postgres: for heartbeats, for finishes, and one that listens.
const QUEUE_CONNECTIONS: usize = 3;
/// The connection that watches the database.
const WATCH_CONNECTIONS: usize = 1;
/// The connection with which figures about the database are read.
const FIGURES_CONNECTIONS: usize = 1;
/// Connections for a moment: one finds out why a pool has none, one ends the lease.
const MOMENTARY_CONNECTIONS: usize = 2;

/// The state of a process before it is ready.
pub(crate) fn starting() -> Readiness {
    Readiness::NotReady("starting".into())
}

/// The state of a process that was told to stop.
pub(crate) fn stopping() -> Readiness {
    Readiness::NotReady("stopping".into())
}

/// How many connections can wait to be accepted.
const BACKLOG: i32 = 1_024;

/// Binds a listener, or says in one line what to do.
pub(crate) fn bind(address: SocketAddr, option: &str) -> anyhow::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address).map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => "stop the process that uses it, or choose another address",
            _ => "choose another address",
        };
        let told = format!("cannot listen on {address}; {remedy} with {option}");
        anyhow::Error::new(error).context(told)
    })?;
    // The standard library sets 128.
    listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    info!(address = %listener.local_addr()?, option, "listening");
    Ok(listener)
}

/// Warns if root runs the interface or workers. Unlike `up`, they keep running, because many
/// containers have no other user.
pub(crate) fn warn_root() {
    if geteuid().is_root() {
        warn!(
            "running as root: an attacker who breaks into this process controls the machine. Start it as an unprivileged \
             user, such as `gatehouse`"
        );
    }
}

/// How many descriptors every long-running process needs: to Postgres, for itself and its queue,
/// and for operators.
pub(crate) fn own_files(pool: PoolOptions) -> usize {
    let postgres = own_connections(pool) + MOMENTARY_CONNECTIONS;
    postgres + MONITORING_CONNECTIONS + 1
}

/// The most connections to Postgres of every long-running process. Those of the interface come in
/// addition.
pub(crate) fn own_connections(pool: PoolOptions) -> usize {
    pool.settings().connections as usize
        + QUEUE_CONNECTIONS
        + WATCH_CONNECTIONS
        + FIGURES_CONNECTIONS
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
                warn!("second signal to stop: ending at once");
                std::process::exit(130);
            }
            info!("stopping");
            token.cancel();
        }
    });
    Ok(stop)
}
