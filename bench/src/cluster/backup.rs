//! Backups of a cluster, and clusters that are restored from them, as `docs/backup.md` tells. The
//! settings of the archive and of a recovery are read from that page.

use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};

use super::{Cluster, DATABASE};

/// How long the archive may take for one file.
const ARCHIVED: Duration = Duration::from_mins(1);
/// What operators read.
const PAGE: &str = include_str!("../../../docs/backup.md");
/// The archive on the page.
const PAGE_ARCHIVE: &str = "/backup/wal";

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

    /// Copies each finished file of the write-ahead log into `archive` from now on, which is created.
    /// The server must run with `archive_mode = on`. Servers that are restored from its base backups
    /// do the same.
    pub(crate) async fn archive(&self, archive: &Path) -> anyhow::Result<()> {
        fs::create_dir(archive)?;
        self.give(archive)?;
        let settings = block("## A base backup and the write-ahead log", "ini")?;
        self.configure(&settings.replace(PAGE_ARCHIVE, &archive.display().to_string()))?;
        sqlx::query("select pg_reload_conf()")
            .execute(&mut self.connect().await?)
            .await?;
        Ok(())
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
    pub(crate) async fn flush_archive(&self, archive: &Path) -> anyhow::Result<()> {
        let file: String = sqlx::query_scalar("select pg_walfile_name(pg_switch_wal())")
            .fetch_one(&mut self.connect().await?)
            .await?;
        let archived = archive.join(&file);
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

    /// Starts a base backup as it was at a time, or with everything that is in the archive, as a
    /// server that can be written to and lost again.
    pub(crate) async fn recover(
        &mut self,
        archive: &Path,
        time: Option<&str>,
    ) -> anyhow::Result<()> {
        let settings = block("To restore a base backup:", "ini")?;
        let settings = settings.replace(PAGE_ARCHIVE, &archive.display().to_string());
        let mut settings: Vec<String> = settings
            .lines()
            .filter(|line| !line.starts_with("recovery_target_time"))
            .map(str::to_owned)
            .collect();
        settings.extend(time.map(|time| format!("recovery_target_time = '{time}'")));
        self.configure(&settings.join("\n"))?;
        let signal = self.data.join("recovery.signal");
        fs::write(&signal, "")?;
        self.give(&signal)?;
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
        // The next base backup must not contain the target.
        let mut removal = self.command("/bin/sh");
        removal
            .arg("-ec")
            .arg(block("### Remove the target", "sh")?);
        run(removal.current_dir(&self.data)).await
    }

    /// Makes a file or directory the server's account's.
    fn give(&self, path: &Path) -> anyhow::Result<()> {
        if let Some(account) = self.account {
            chown(path, Some(account.uid), Some(account.gid))?;
        }
        Ok(())
    }

    fn superuser(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command.env_clear().arg("--host").arg(self.socket());
        command.args(["--port", &self.port.to_string()]);
        command.args(["--username", "postgres"]);
        command
    }
}

/// The first block of the page in a language below these words.
fn block(words: &str, language: &str) -> anyhow::Result<String> {
    let found = PAGE
        .split_once(words)
        .and_then(|(_, below)| below.split_once(&format!("```{language}\n")))
        .and_then(|(_, inside)| inside.split_once("```"));
    let (block, _) =
        found.with_context(|| format!("docs/backup.md has no {language} below `{words}`"))?;
    // Blocks in lists are indented.
    let lines: Vec<&str> = block.lines().map(str::trim_start).collect();
    Ok(lines.join("\n"))
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
