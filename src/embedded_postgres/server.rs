//! One running Postgres: started, waited for, and stopped in order. It runs in a process group of its own, because a
//! Ctrl-C in a terminal goes to the whole group, and Postgres must outlive the workers that are still draining.

use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::cluster::{Cluster, advice};
use super::leftovers::{PidFile, settle};

/// How long an orderly shutdown may take (it writes a checkpoint) before Postgres is told to stop without one, which
/// loses nothing and only makes the next start longer.
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
    /// Starts Postgres on a database directory and returns when it accepts connections. A recovery after a crash may
    /// take its time.
    ///
    /// # Errors
    /// One line with Postgres's own reason and what to do.
    pub(super) async fn start(cluster: &Cluster) -> anyhow::Result<Self> {
        settle(&cluster.directory, &cluster.socket).await?;
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

/// Passes Postgres's log on to ours, and keeps the first reason for not starting.
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
