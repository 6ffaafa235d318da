//! The environment of every measurement: a scratch directory with its own Postgres.

use std::{fs, net::SocketAddr, os::unix::fs::PermissionsExt as _, path::PathBuf};

use clap::Args;
use sqlx::{PgPool, postgres::PgPoolOptions};
use tempfile::TempDir;

use crate::cluster::{self, Cluster, Role};

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct EnvironmentOptions {
    /// The directory with Postgres's programs [default: the newest found]
    #[arg(long)]
    postgres_bin: Option<PathBuf>,
    /// Where databases and logs go while it runs; on a real disk, or syncing costs nothing
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    /// Keep databases and logs
    #[arg(long)]
    keep: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Dropping it ends Postgres and removes the files.
pub(crate) struct Environment {
    pub(crate) cluster: Cluster,
    scratch: TempDir,
}

impl Environment {
    /// Starts Postgres.
    pub(crate) async fn start(options: &EnvironmentOptions) -> anyhow::Result<Self> {
        let (binaries, scratch) = prepare(options)?;
        let cluster = Cluster::start(&binaries, scratch.path().join("postgres")).await?;
        Ok(Self { cluster, scratch })
    }

    /// Starts a Postgres with additional settings that also listens on this address.
    pub(crate) async fn start_on(
        options: &EnvironmentOptions,
        address: SocketAddr,
        settings: &str,
    ) -> anyhow::Result<Self> {
        let (binaries, scratch) = prepare(options)?;
        let directory = scratch.path().join("postgres");
        let cluster = Cluster::start_on(&binaries, directory, address, settings).await?;
        Ok(Self { cluster, scratch })
    }

    /// Starts Postgres with the queue's schema and nothing of the service.
    pub(crate) async fn with_queue(options: &EnvironmentOptions) -> anyhow::Result<(Self, PgPool)> {
        let environment = Self::start(options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(8)
            .connect(&environment.cluster.url(Role::Gatehouse))
            .await?;
        queue::MIGRATOR.run(&pool).await?;
        Ok((environment, pool))
    }

    /// Where the files are.
    pub(crate) fn directory(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    /// The files, which are kept from now on.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.cluster.keep();
        self.scratch.disable_cleanup(true);
        self.directory()
    }
}

/// Postgres's programs, and a directory.
fn prepare(options: &EnvironmentOptions) -> anyhow::Result<(PathBuf, TempDir)> {
    let binaries = options
        .postgres_bin
        .clone()
        .map_or_else(cluster::find_binaries, Ok)?;
    let mut scratch = tempfile::Builder::new()
        .prefix("gatehouse-bench-")
        .tempdir_in(&options.scratch)?;
    scratch.disable_cleanup(options.keep);
    // Postgres's account must be able to enter it.
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o711))?;
    eprintln!("starting Postgres in {}", scratch.path().display());
    Ok((binaries, scratch))
}
