//! The database of the run: a primary and a standby without which it commits nothing, as the service sees them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::proxy::Proxy;
use crate::{
    cluster::{Cluster, DATABASE},
    environment::{Environment, EnvironmentOptions},
    processes::free_address,
};

/// The settings of both servers: few connections and little room for the log, as in a small
/// database, so that both can be used up.
const SETTINGS: &str = "
max_connections = 150
max_wal_size = 128MB
min_wal_size = 64MB
";
/// The size of the filesystem that is filled later.
const DISK_MIB: u32 = 640;
/// How long a plain write may take; then the database counts as not writable.
const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);
/// How long an incident may take to begin.
const BEGINS: Duration = Duration::from_mins(1);

/// The parts of the database except the primary, which is the environment's cluster.
pub(super) struct PrimaryAndStandby {
    /// The first host of the URL. It leads to the primary.
    pub(super) name: Proxy,
    pub(super) primary: std::net::SocketAddr,
    /// The second host.
    pub(super) standby_address: std::net::SocketAddr,
    /// None after it was promoted.
    pub(super) standby: Option<Cluster>,
    pub(super) probe: Probe,
}

impl PrimaryAndStandby {
    /// Starts both.
    pub(super) async fn start(options: &EnvironmentOptions) -> anyhow::Result<(Environment, Self)> {
        let (primary, standby_address) = (free_address()?, free_address()?);
        let environment = Environment::start_on(options, primary, SETTINGS).await?;
        let directory = environment.directory().join("standby");
        let standby = environment
            .cluster
            .standby(directory, standby_address, SETTINGS, DISK_MIB)
            .await?;
        let name = Proxy::of(primary).await?;
        let hosts = [name.address(), standby_address];
        let mut conn = environment.cluster.connect().await?;
        for statement in [
            "create schema bench authorization gatehouse",
            "create table bench.writes (at timestamptz not null default now())",
            "alter table bench.writes owner to gatehouse",
        ] {
            sqlx::query(statement).execute(&mut conn).await?;
        }
        let probe = Probe {
            urls: hosts
                .map(|host| format!("postgres://gatehouse@{host}/{DATABASE}?sslmode=disable")),
        };
        let databases = Self {
            name,
            primary,
            standby_address,
            standby: Some(standby),
            probe,
        };
        Ok((environment, databases))
    }

    /// The URL that the service knows: both hosts, whichever can write.
    pub(super) fn url(&self) -> String {
        format!(
            "postgres://gatehouse@{},{}/{DATABASE}?sslmode=disable&target_session_attrs=read-write",
            self.name.address(),
            self.standby_address
        )
    }

    /// The standby, which is not the primary yet.
    pub(super) fn standby(&self) -> anyhow::Result<&Cluster> {
        self.standby
            .as_ref()
            .context("there is no standby any more")
    }
}

/// Tells whether the database can be written to, by a plain write through a new connection to each host that the service
/// knows, with the service's role.
pub(super) struct Probe {
    urls: [String; 2],
}

impl Probe {
    /// Waits until a write succeeds, and says when.
    pub(super) async fn until_writable(&self) -> Instant {
        while !self.writes().await {
            tokio::time::sleep(POLL).await;
        }
        Instant::now()
    }

    /// Waits until no write succeeds.
    ///
    /// # Errors
    /// Writes still succeed, so the incident does not do what it should.
    pub(super) async fn until_down(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while self.writes().await {
            ensure!(
                begun.elapsed() < BEGINS,
                "the database can still be written to"
            );
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    pub(super) async fn writes(&self) -> bool {
        for url in &self.urls {
            if let Ok(Ok(())) = timeout(PATIENCE, write(url)).await {
                return true;
            }
        }
        false
    }
}

async fn write(url: &str) -> Result<(), sqlx::Error> {
    let mut conn = PgConnection::connect(url).await?;
    sqlx::query("insert into bench.writes default values")
        .execute(&mut conn)
        .await?;
    conn.close().await
}
