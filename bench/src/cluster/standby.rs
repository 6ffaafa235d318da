//! A second server that follows the first, and takes its place.

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use sqlx::{Connection as _, PgConnection};

use super::{Cluster, Disk};

/// How long it may take to follow, and to become the primary.
const PATIENCE: Duration = Duration::from_mins(1);

impl Cluster {
    /// Makes a standby in `directory`, which is created. From then on, this cluster commits only
    /// what the standby has on its disk. The standby's data gets a filesystem of so many mebibytes,
    /// if one can be mounted.
    ///
    /// # Errors
    /// It does not start, or does not follow.
    pub(crate) async fn standby(
        &self,
        directory: PathBuf,
        address: SocketAddr,
        settings: &str,
        mebibytes: u32,
    ) -> anyhow::Result<Self> {
        let mut standby = Self::at(&self.binaries, directory, address.port())?;
        match Disk::mount(standby.directory.join("disk"), mebibytes, standby.account) {
            Ok(disk) => {
                standby.data = disk.root().join("data");
                standby.disk = Some(disk);
            }
            Err(error) => eprintln!(
                "no disk can be filled in this run, because only root may mount one: {error:#}"
            ),
        }
        let copied = self
            .command("pg_basebackup")
            .arg("--pgdata")
            .arg(&standby.data)
            .arg("--host")
            .arg(self.socket())
            .args(["--port", &self.port.to_string()])
            .args([
                "--username=postgres",
                "--write-recovery-conf",
                "--checkpoint=fast",
            ])
            .output()
            .context("cannot run pg_basebackup")?;
        ensure!(
            copied.status.success(),
            "pg_basebackup failed: {}",
            String::from_utf8_lossy(&copied.stderr)
        );
        standby.configure(settings)?;
        standby.serve().await?;
        let mut conn = self.connect().await?;
        for statement in [
            "alter system set synchronous_standby_names = '*'",
            "select pg_reload_conf()",
        ] {
            sqlx::query(statement).execute(&mut conn).await?;
        }
        wait_for(
            &mut conn,
            "select exists (select from pg_stat_replication where sync_state = 'sync')",
        )
        .await
        .context("the standby does not follow")?;
        conn.close().await?;
        Ok(standby)
    }

    /// Makes a standby the primary, alone.
    ///
    /// # Errors
    /// It does not become one.
    pub(crate) async fn promote(&self) -> anyhow::Result<()> {
        let mut conn = self.connect().await?;
        wait_for(&mut conn, "select pg_promote(true, 60)")
            .await
            .context("the standby does not become the primary")?;
        Ok(conn.close().await?)
    }

    /// Ends all sessions of the service.
    pub(crate) async fn end_sessions(conn: &mut PgConnection) -> anyhow::Result<()> {
        sqlx::query(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'gatehouse'",
        )
        .execute(conn)
        .await?;
        Ok(())
    }

    /// How many sessions the service has.
    pub(crate) async fn sessions(&self) -> anyhow::Result<i64> {
        let count = "select count(*) from pg_stat_activity where usename = 'gatehouse'";
        Ok(sqlx::query_scalar(count)
            .fetch_one(&mut self.connect().await?)
            .await?)
    }

    /// The filesystem of its data, if that has one of its own.
    pub(crate) const fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }
}

/// Asks until the answer is yes.
async fn wait_for(conn: &mut PgConnection, question: &'static str) -> anyhow::Result<()> {
    let asked = Instant::now();
    while !sqlx::query_scalar::<_, bool>(question)
        .fetch_one(&mut *conn)
        .await?
    {
        ensure!(asked.elapsed() < PATIENCE, "not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
