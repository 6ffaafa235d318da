//! The queues that are compared: where each keeps its jobs, and how its driver is started.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::process::Command;

use crate::{
    cluster::{Cluster, DATABASE, Role},
    driver_client::DriverClient,
};

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum System {
    Gatehouse,
    /// The loop written by hand, on a minimal table: one queue, no retries.
    ByHand,
    /// The same loop on a realistic table: like ours, but without lanes.
    ByHandLaneless,
    GraphileWorker,
    PgBoss,
}

impl System {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gatehouse => "Gatehouse",
            Self::ByHand => "by hand, bare",
            Self::ByHandLaneless => "by hand, laneless",
            Self::GraphileWorker => "graphile-worker",
            Self::PgBoss => "pg-boss",
        }
    }

    pub(super) const fn is_peer(self) -> bool {
        matches!(self, Self::GraphileWorker | Self::PgBoss)
    }

    /// Each has its own database, so that no maintenance touches another's tables.
    pub(super) const fn database(self) -> &'static str {
        match self {
            Self::Gatehouse => DATABASE,
            Self::ByHandLaneless => "laneless",
            Self::ByHand => "by_hand",
            Self::GraphileWorker => "graphile_worker",
            Self::PgBoss => "pg_boss",
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Gatehouse => "queue.jobs",
            Self::ByHandLaneless => "jobs_laneless",
            Self::ByHand => "jobs_by_hand",
            Self::GraphileWorker => "graphile_worker._private_jobs",
            Self::PgBoss => "pgboss.job_common",
        }
    }

    /// The jobs that are due and not finished.
    const fn unfinished(self) -> &'static str {
        match self {
            Self::Gatehouse => "select count(*) from queue.jobs where state <> 2",
            Self::ByHandLaneless => "select count(*) from jobs_laneless where state <> 2",
            Self::ByHand => "select count(*) from jobs_by_hand where run_at <= now()",
            Self::GraphileWorker => {
                "select count(*) from graphile_worker._private_jobs where run_at <= now()"
            }
            Self::PgBoss => {
                "select count(*) from pgboss.job_common
                 where name = 'nothing' and state <> 'completed' and start_after <= now()"
            }
        }
    }
}

/// The systems on their Postgres.
pub(super) struct Arena<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) logs: PathBuf,
    peers: PathBuf,
}

impl<'a> Arena<'a> {
    /// Makes the databases. The peers' packages must be there.
    pub(super) async fn prepare(cluster: &'a Cluster, logs: PathBuf) -> anyhow::Result<Self> {
        for system in [
            System::ByHand,
            System::ByHandLaneless,
            System::GraphileWorker,
            System::PgBoss,
        ] {
            cluster.create_database(system.database()).await?;
        }
        Ok(Self {
            cluster,
            logs,
            peers: install_peers().await?,
        })
    }

    /// A fresh process of a system.
    pub(super) async fn driver(&self, system: System) -> anyhow::Result<DriverClient> {
        let url = self.cluster.url_of(Role::Gatehouse, system.database());
        match system {
            System::Gatehouse => DriverClient::ours("queue", &url, &self.logs).await,
            System::ByHand => DriverClient::ours("by-hand", &url, &self.logs).await,
            System::ByHandLaneless => {
                DriverClient::ours("by-hand-laneless", &url, &self.logs).await
            }
            System::GraphileWorker => {
                DriverClient::peer(&self.peers.join("graphile-worker.mjs"), &url, &self.logs).await
            }
            System::PgBoss => {
                DriverClient::peer(&self.peers.join("pg-boss.mjs"), &url, &self.logs).await
            }
        }
    }

    pub(super) async fn connect(&self, system: System) -> anyhow::Result<PgConnection> {
        self.cluster.connect_to(system.database()).await
    }
}

impl System {
    /// Empties the table and writes a checkpoint, so that every measurement starts from the same state.
    pub(super) async fn empty(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        self.execute(conn, "truncate").await?;
        self.checkpoint(conn).await
    }

    /// Cleans the table up and describes it to the planner.
    pub(super) async fn vacuum(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        self.execute(conn, "vacuum analyze").await?;
        self.checkpoint(conn).await
    }

    /// Describes the table to the planner, and leaves what is dead in it.
    pub(super) async fn analyze(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        self.execute(conn, "analyze").await?;
        self.checkpoint(conn).await
    }

    /// Switches autovacuum on the table.
    pub(super) async fn autovacuum(self, conn: &mut PgConnection, on: bool) -> anyhow::Result<()> {
        let alter = format!(
            "alter table {} set (autovacuum_enabled = {on})",
            self.table()
        );
        sqlx::query(AssertSqlSafe(alter)).execute(conn).await?;
        Ok(())
    }

    pub(super) async fn unfinished_jobs(self, conn: &mut PgConnection) -> anyhow::Result<i64> {
        let counted = sqlx::query_scalar(self.unfinished());
        Ok(counted.fetch_one(conn).await?)
    }

    async fn execute(self, conn: &mut PgConnection, command: &str) -> anyhow::Result<()> {
        let statement = format!("{command} {}", self.table());
        sqlx::query(AssertSqlSafe(statement)).execute(conn).await?;
        Ok(())
    }

    async fn checkpoint(self, conn: &mut PgConnection) -> anyhow::Result<()> {
        sqlx::query("checkpoint").execute(conn).await?;
        Ok(())
    }
}

/// Where the peers' drivers are, with their packages, which npm installs when they are not there.
async fn install_peers() -> anyhow::Result<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    ensure!(
        is_there("node").await && is_there("npm").await,
        "the peers need Node 20 or newer with npm: sudo apt-get install nodejs npm"
    );
    if !peers.join("node_modules/.package-lock.json").exists() {
        eprintln!("installing the peers into {}", peers.display());
        let installed = Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&peers)
            .output()
            .await
            .context("cannot run npm")?;
        ensure!(
            installed.status.success(),
            "npm ci failed in {}: {}",
            peers.display(),
            String::from_utf8_lossy(&installed.stderr)
        );
    }
    Ok(peers)
}

async fn is_there(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").output().await;
    asked.is_ok_and(|answer| answer.status.success())
}
