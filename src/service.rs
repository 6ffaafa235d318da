//! What the long-running commands have in common: they listen, wait for their schema, and stop in order.

mod readiness;

use std::{fmt, io::ErrorKind, net::SocketAddr};

use ::api::Readiness;
use database::connection_shortage::Room;
use queue::Process;
use rustix::{net::listen, process::geteuid, system::uname};
use store::{Error, PgConnection, PgPool, database_metrics, schema};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::config::{Database, PoolOptions};

pub(crate) use readiness::{check_master_key, tell_systemd, wait_for_schema};

/// The queue's own connections to Postgres: for heartbeats, for finishes, and one that listens.
const QUEUE_CONNECTIONS: usize = 3;
/// The connection that watches the database.
const WATCH_CONNECTIONS: usize = 1;
/// The connection with which figures about the database are read.
const FIGURES_CONNECTIONS: usize = 1;
/// Connections for a moment: one finds out why a pool has none, one ends the lease.
const MOMENTARY_CONNECTIONS: usize = 2;
/// Connections to `/metrics`, `/healthz` and `/readyz`.
pub(crate) const MONITORING_CONNECTIONS: usize = 64;

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

/// The connection of a command that does one thing and ends, to a database that has this binary's
/// schema. Its statements have a limit of one minute, even if nobody waits for them any more.
pub(crate) async fn connect(database: &Database, name: &str) -> anyhow::Result<PgConnection> {
    let pool = open_current(database, name).await?;
    Ok(schema::connect_for_command(&pool).await?)
}

/// The pool of such a command, to a database whose schema this binary can serve.
pub(crate) async fn open_current(database: &Database, name: &str) -> anyhow::Result<PgPool> {
    let pool = open(database, name).await?;
    schema::compatibility(&pool).await?;
    Ok(pool)
}

/// The pool of a command that does one thing and ends, on the host that can write. Fails with a
/// reason if something is wrong with the database.
pub(crate) async fn open(database: &Database, name: &str) -> anyhow::Result<PgPool> {
    let hosts = database.hosts.clone().with_writable_first().await?;
    let pool = ::database::pool(&hosts, name, database.pool.settings());
    ::database::check_server(&pool).await?;
    Ok(pool)
}

/// What the processes want, and what Postgres allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    /// The most connections that all registered processes may open together.
    pub(crate) wanted: i64,
    pub(crate) room: Room,
}

impl Wants {
    /// Asks the database. Others may use the same Postgres: their connections are part of [`Room::used`] only.
    pub(crate) async fn ask(conn: &mut PgConnection) -> Result<Self, Error> {
        Ok(Self {
            wanted: queue::workers::wanted_connections(conn).await?,
            room: Room::ask(conn).await?,
        })
    }

    pub(crate) fn are_too_many(self) -> bool {
        self.wanted > self.room.allowed
    }
}

impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, room } = self;
        write!(
            f,
            "all processes together may open {wanted} connections, and Postgres allows {}",
            room.allowed
        )?;
        if self.are_too_many() {
            f.write_str(
                ": raise its max_connections, or lower GATEHOUSE_DATABASE_CONNECTIONS. When Postgres has none left, they take turns \
                 and are slower",
            )?;
        }
        Ok(())
    }
}

/// Warns at the start of a process that opens up to `own` connections, if that is too many with those of all others.
pub(crate) async fn warn_of_too_many(pool: PgPool, own: usize) {
    let asked = async {
        let mut conn = database_metrics::connect(&pool).await?;
        Wants::ask(&mut conn).await
    };
    match asked.await {
        Ok(Wants { wanted, room }) => {
            let wanted = wanted.saturating_add(i64::try_from(own).unwrap_or(i64::MAX));
            let wants = Wants { wanted, room };
            if wants.are_too_many() {
                warn!("{wants}");
            }
        }
        Err(error) => debug!(%error, "cannot see how many connections Postgres allows"),
    }
}

/// This process. `metrics` is where its metrics are, and `connections` the most that it opens to Postgres.
pub(crate) fn process_name(role: &str, metrics: SocketAddr, connections: usize) -> Process {
    Process {
        host: Some(host()),
        pid: i32::try_from(std::process::id()).ok(),
        role: Some(role.to_owned()),
        metrics_address: Some(metrics.to_string()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        connections: i32::try_from(connections).ok(),
    }
}

/// The name of this machine, container or pod.
pub(crate) fn host() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_where_it_is() {
        let process = process_name("worker", "127.0.0.1:9464".parse().unwrap(), 26).bounded();
        let told = process.to_string();
        assert!(told.starts_with("worker on "), "{told}");
        let pid = format!(", pid {}, ", std::process::id());
        assert!(told.contains(&pid), "{told}");
        assert!(told.contains("metrics at 127.0.0.1:9464"), "{told}");
        assert!(!process.host.unwrap().is_empty());
    }
}
