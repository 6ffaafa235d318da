//! The private Postgres of `gatehouse up`: found on the machine or downloaded, and kept running in
//! the data directory. It runs as the user who runs Gatehouse, and is reached over a Unix socket by
//! that user and by root, without a password.
//!
//! It is an ordinary durable Postgres: after a crash, a SIGKILL or a power cut, the next start
//! finds everything that was committed.

mod binaries;
mod cluster;
mod server;

use std::time::Duration;

use anyhow::Context as _;
use sqlx::{Postgres, migrate::MigrateDatabase as _};
use telemetry::{RepeatedFailure, failed, over};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use self::{
    cluster::Cluster,
    server::{Server, settle},
};
use crate::data_dir::DataDir;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// If Postgres ran for this long, its end starts a new series of pauses.
const WELL: Duration = Duration::from_mins(1);

/// A running private Postgres. If it dies, it is started again under the same URL, until
/// [`stop`](Self::stop) is called. Dropping it stops Postgres too, but does not wait for that.
#[derive(Debug)]
pub(crate) struct EmbeddedPostgres {
    url: String,
    stop: CancellationToken,
    keeper: JoinHandle<()>,
}

impl EmbeddedPostgres {
    /// Starts it, and creates the database `gatehouse` if it is missing. A Postgres that an
    /// earlier, killed process left running in the directory is stopped first.
    ///
    /// # Errors
    /// One line that says what to do: nothing to run, a directory that Postgres cannot use, a full disk, damaged files.
    pub(crate) async fn start(data: &DataDir) -> anyhow::Result<Self> {
        let cluster = Cluster::prepare(data).await?;
        let server = serve(&cluster).await?;
        let url = cluster.url.clone();
        let stop = CancellationToken::new();
        let keeper = tokio::spawn(keep(cluster, server, stop.clone()));
        let postgres = Self { url, stop, keeper };
        postgres
            .ensure_database()
            .await
            .context("cannot use the private Postgres")?;
        Ok(postgres)
    }

    /// The URL of the database, for this process, `psql` and every other command run by the same user or by root. It stays
    /// the same over all starts.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Stops it in order and waits until it has ended. Connections should have been closed before.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        if let Err(error) = (&mut self.keeper).await {
            warn!(%error, "the task that watches Postgres failed");
        }
    }

    async fn ensure_database(&self) -> sqlx::Result<()> {
        let ensuring = async {
            if !Postgres::database_exists(&self.url).await? {
                Postgres::create_database(&self.url).await?;
            }
            Ok(())
        };
        ensuring.await.map_err(database::plain_error)
    }
}

impl Drop for EmbeddedPostgres {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts Postgres after removing what an earlier process left behind.
async fn serve(cluster: &Cluster) -> anyhow::Result<Server> {
    settle(&cluster.directory, &cluster.socket).await?;
    Server::start(cluster).await
}

/// Starts Postgres again whenever it ends, until [`EmbeddedPostgres::stop`] is called.
async fn keep(cluster: Cluster, mut server: Server, stop: CancellationToken) {
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        tokio::select! {
            () = stop.cancelled() => return server.stop().await,
            ended = server.ended() => match ended {
                Ok(status) => warn!(%status, "Postgres ended unexpectedly: starting it again"),
                Err(error) => warn!(%error, "cannot watch Postgres: starting it again"),
            }
        }
        if started.elapsed() >= WELL {
            pause = FIRST_PAUSE;
        }
        server = tokio::select! {
            () = stop.cancelled() => return,
            server = restart(&cluster, &mut pause) => server,
        };
    }
}

async fn restart(cluster: &Cluster, pause: &mut Duration) -> Server {
    let trouble = RepeatedFailure::in_turn();
    loop {
        sleep(*pause).await;
        *pause = (*pause * 2).min(LONGEST_PAUSE);
        match serve(cluster).await {
            Ok(server) => {
                over!(trouble.worked(), "Postgres can be started again");
                info!("Postgres is back");
                return server;
            }
            Err(error) => failed!(
                trouble.failed(),
                "Postgres did not come back, trying again: {error:#}"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
