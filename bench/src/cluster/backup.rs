//! Backups of a cluster, and clusters that are restored from them. These are the commands of
//! `docs/backup.md`.

use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use sqlx::{AssertSqlSafe, PgConnection};

use super::{Cluster, DATABASE};

/// How long the archive may take for one file.
const ARCHIVED: Duration = Duration::from_mins(1);

impl Cluster {
    /// Copies the database as it is at the beginning of the call into a file.
    pub(crate) async fn dump(&self, file: &Path) -> anyhow::Result<()> {
        let mut command = self.superuser("pg_dump");
        command.args(["--format=custom", "--file"]).arg(file);
        run(command.arg(DATABASE)).await
    }

    /// Makes a cluster in `directory`, which is created, and restores a file into it.
    pub(crate) async fn restore(&self, directory: PathBuf, file: &Path) -> anyhow::Result<Self> {
        let restored = Self::start(&self.binaries, directory).await?;
        let mut conn = restored.connect().await?;
        // The file contains the extension.
        sqlx::query("drop extension pg_stat_statements")
            .execute(&mut conn)
            .await?;
        let mut command = restored.superuser("pg_restore");
        command.args(["--exit-on-error", "--dbname", DATABASE]);
        run(command.arg(file)).await?;
        sqlx::query("analyze").execute(&mut conn).await?;
        Ok(restored)
    }

    /// Copies each finished file of the write-ahead log into a directory from now on. The server
    /// must run with `archive_mode = on`.
    pub(crate) async fn archive(&self) -> anyhow::Result<PathBuf> {
        let archive = self.own_directory("archive")?;
        let place = archive.display();
        let copy = format!(
            "alter system set archive_command = 'test ! -f {place}/%f && cp %p {place}/%f'"
        );
        let mut conn = self.connect().await?;
        // The directory is our own.
        sqlx::query(AssertSqlSafe(copy)).execute(&mut conn).await?;
        sqlx::query("select pg_reload_conf()")
            .execute(&mut conn)
            .await?;
        Ok(archive)
    }

    /// Copies the files of the running server into `directory`, which is created.
    pub(crate) async fn base_backup(&self, directory: PathBuf) -> anyhow::Result<Self> {
        let copy = Self::at(&self.binaries, directory, self.port)?;
        let mut command = self.command("pg_basebackup");
        command.arg("--pgdata").arg(&copy.data);
        command.arg("--host").arg(self.socket());
        command.args(["--port", &self.port.to_string()]);
        run(command.args(["--username=postgres", "--checkpoint=fast"])).await?;
        Ok(copy)
    }

    /// Waits until everything that is committed now is in the archive.
    pub(crate) async fn flush_archive(&self, conn: &mut PgConnection) -> anyhow::Result<()> {
        let file: String = sqlx::query_scalar("select pg_walfile_name(pg_switch_wal())")
            .fetch_one(&mut *conn)
            .await?;
        let archived = self.directory.join("archive").join(&file);
        let began = Instant::now();
        while !archived.exists() {
            ensure!(
                began.elapsed() < ARCHIVED,
                "{file} does not reach the archive"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Starts a base backup as it was at a time, from an archive, as a server that can be written
    /// to.
    pub(crate) async fn recover(&mut self, archive: &Path, time: &str) -> anyhow::Result<()> {
        let signal = self.data.join("recovery.signal");
        fs::write(&signal, "")?;
        if let Some(account) = self.account {
            chown(&signal, Some(account.uid), Some(account.gid))?;
        }
        self.configure(&format!(
            "archive_mode = off\n\
             restore_command = 'cp {}/%f %p'\n\
             recovery_target_time = '{time}'\n\
             recovery_target_action = 'promote'",
            archive.display()
        ))?;
        self.serve().await?;
        let mut conn = self.connect().await?;
        let began = Instant::now();
        while sqlx::query_scalar("select pg_is_in_recovery()")
            .fetch_one(&mut conn)
            .await?
        {
            ensure!(began.elapsed() < ARCHIVED, "the recovery does not end");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// A directory for files of the server's account.
    fn own_directory(&self, name: &str) -> anyhow::Result<PathBuf> {
        let own = self.directory.join(name);
        fs::create_dir(&own)?;
        if let Some(account) = self.account {
            chown(&own, Some(account.uid), Some(account.gid))?;
        }
        Ok(own)
    }

    fn superuser(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command.env_clear().arg("--host").arg(self.socket());
        command.args(["--port", &self.port.to_string()]);
        command.args(["--username", "postgres"]);
        command
    }
}

/// Runs a program to its end, while others work.
async fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_owned();
    let command = std::mem::replace(command, Command::new(&name));
    let output = tokio::process::Command::from(command)
        .kill_on_drop(true)
        .output()
        .await;
    let output = output.with_context(|| format!("cannot run {}", name.display()))?;
    ensure!(
        output.status.success(),
        "{} failed: {}",
        name.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
