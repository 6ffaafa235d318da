//! One running Postgres. It has its own process group, because a Ctrl-C in a terminal goes to a
//! whole group, and Postgres must outlive the workers that still finish their jobs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr},
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use super::cluster::{Cluster, advice};

/// How long an orderly shutdown may take (it writes a checkpoint) before Postgres is told to stop
/// without a checkpoint. That loses nothing; only the next start takes longer.
pub(super) const ORDERLY: Duration = Duration::from_mins(1);
const READY_POLL: Duration = Duration::from_millis(25);
/// How often a long start, which is a recovery after a crash, is reported.
const PATIENCE: Duration = Duration::from_secs(10);

/// Dropping it asks Postgres to stop, but waits for nothing.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
}

impl Server {
    /// Starts Postgres on a database directory that no other Postgres serves, and returns when it
    /// accepts connections. A recovery after a crash can take long.
    ///
    /// # Errors
    /// One line with Postgres's own reason and what to do.
    pub(super) async fn start(cluster: &Cluster) -> anyhow::Result<Self> {
        let mut setting = std::ffi::OsString::from("config_file=");
        setting.push(&cluster.configuration);
        let mut child = cluster
            .binaries
            .command("postgres")
            .arg("-D")
            .arg(&cluster.directory)
            .arg("-c")
            .arg(setting)
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start Postgres")?;
        let complaint = Arc::new(Mutex::new(None));
        let listener = child
            .stderr
            .take()
            .map(|log| tokio::spawn(listen(log, Arc::clone(&complaint))));
        let mut server = Self { child };
        if server.ready(cluster).await? {
            return Ok(server);
        }
        if let Some(listener) = listener {
            // The reason stands at the end of the log, which may not have been read yet.
            let _ = timeout(Duration::from_secs(1), listener).await;
        }
        let complaint = complaint
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let complaint = complaint.unwrap_or_else(|| "it gave no reason".to_owned());
        bail!(
            "Postgres did not start in {}: {complaint}{}",
            cluster.directory.display(),
            advice(&complaint)
        );
    }

    /// `false` if Postgres ended instead.
    async fn ready(&mut self, cluster: &Cluster) -> anyhow::Result<bool> {
        let mut waited = Duration::ZERO;
        loop {
            let Some(pid) = self.child.id() else {
                return Ok(false);
            };
            if PidFile::read(&cluster.directory)?.is_some_and(|file| file.is_ready(pid)) {
                return Ok(true);
            }
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            sleep(READY_POLL).await;
            waited += READY_POLL;
            if waited >= PATIENCE {
                waited = Duration::ZERO;
                info!("Postgres is still recovering from a crash");
            }
        }
    }

    /// Waits until Postgres ends by itself, which it should not.
    pub(super) async fn ended(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Stops in order: connections are closed, a checkpoint is written.
    pub(super) async fn stop(mut self) {
        self.signal(Signal::INT);
        if timeout(ORDERLY, self.child.wait()).await.is_err() {
            warn!("Postgres takes long to stop; stopping it without a checkpoint");
            self.signal(Signal::QUIT);
            if let Err(error) = self.child.wait().await {
                warn!(%error, "cannot wait for Postgres");
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = self
            .child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        // Without a pid it has ended and been waited for.
        if let Some(pid) = pid
            && let Err(error) = kill_process(pid, signal)
        {
            warn!(%error, "cannot signal Postgres");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::INT);
    }
}

/// Writes Postgres's log to our log, and keeps the first error.
async fn listen(log: ChildStderr, complaint: Arc<Mutex<Option<String>>>) {
    let mut lines = BufReader::new(log).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        let fatal = line.starts_with("FATAL:") || line.starts_with("PANIC:");
        let refusal = fatal || line.starts_with("postgres: ");
        if refusal {
            complaint
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| line.to_owned());
        }
        if line.starts_with("PANIC:") || line.starts_with("WARNING:") {
            warn!(target: "postgres", "{line}");
        } else {
            debug!(target: "postgres", "{line}");
        }
    }
}

/// The content of `postmaster.pid`: the pid is in the first line, the state in the eighth.
#[derive(Debug)]
pub(super) struct PidFile {
    pub(super) pid: i32,
    ready: bool,
}

impl PidFile {
    /// `None` if there is no file, or if it is incomplete.
    pub(super) fn read(database: &Path) -> anyhow::Result<Option<Self>> {
        let path = pid_file(database);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let pid = text.lines().next()?.trim().parse().ok()?;
        let ready = text
            .lines()
            .nth(7)
            .is_some_and(|state| state.trim() == "ready");
        Some(Self { pid, ready })
    }

    /// Whether it was written by this process, which accepts connections.
    fn is_ready(&self, pid: u32) -> bool {
        self.ready && u32::try_from(self.pid) == Ok(pid)
    }
}

/// Where Postgres writes it.
pub(super) fn pid_file(database: &Path) -> PathBuf {
    database.join("postmaster.pid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_read_whole_or_not_at_all() {
        let text = "4711\n/data\n1700000000\n5432\n/data/run\n\n  123  0\nready   \n";
        assert!(PidFile::parse(text).unwrap().is_ready(4711));
        assert!(!PidFile::parse(text).unwrap().is_ready(4712));
        assert!(
            !PidFile::parse(&text.replace("ready ", "starting"))
                .unwrap()
                .is_ready(4711)
        );
        assert!(PidFile::parse("").is_none());
        assert!(PidFile::parse("garbage").is_none());
    }
}
