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
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr},
    time::{Instant, sleep, timeout},
};
use tracing::{debug, info, warn};

use super::cluster::{Cluster, advice};

/// How long an orderly shutdown may take (it writes a checkpoint) before Postgres is told to stop
/// without a checkpoint. That loses nothing; only the next start takes longer.
const ORDERLY: Duration = Duration::from_mins(1);
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
struct PidFile {
    pid: i32,
    ready: bool,
}

impl PidFile {
    /// `None` if there is no file, or if it is incomplete.
    fn read(database: &Path) -> anyhow::Result<Option<Self>> {
        let path = pid_file(database);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    fn parse(text: &str) -> Option<Self> {
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
fn pid_file(database: &Path) -> PathBuf {
    database.join("postmaster.pid")
}

const POLL: Duration = Duration::from_millis(50);
/// If the main process of Postgres was killed, its other processes end when their statement ends.
const STRAGGLERS: Duration = Duration::from_secs(30);

// What an earlier process left behind. If `gatehouse up` is killed with SIGKILL, its Postgres keeps running. After a power cut, a pid file
// names a process that is gone, or another process that has the same number now.

/// Stops a Postgres that still serves the directory, and removes what would keep a new one from
/// starting. Only the holder of the data directory's lock may call it.
///
/// # Errors
/// One line: processes of Postgres work in the directory and do not end.
pub(super) async fn settle(database: &Path, socket: &Path) -> anyhow::Result<()> {
    let Some(residents) = residents(database) else {
        return Ok(());
    };
    if let Some(file) = PidFile::read(database)?
        && residents.contains(&file.pid)
    {
        warn!(
            pid = file.pid,
            "an earlier process left its Postgres running: stopping it"
        );
        signal(file.pid, Signal::INT);
        if !vacated(database, ORDERLY).await {
            signal(file.pid, Signal::QUIT);
        }
    }
    if !vacated(database, STRAGGLERS).await {
        bail!(
            "processes of another Postgres still work in {}: end them and start again",
            database.display()
        );
    }
    let mut socket_lock = socket.as_os_str().to_owned();
    socket_lock.push(".lock");
    remove_if_misleading(&pid_file(database))?;
    remove_if_misleading(Path::new(&socket_lock))
}

/// Removes the lock file of a process that is gone. Postgres does that itself, but it mistakes any
/// living process with the same number for the owner, and also a dead one that its parent has not
/// waited for.
///
/// # Errors
/// One line: the process may be a Postgres of another user, whose directory only that user and root can see. There is one when
/// the files were given to this user while it ran; two servers on one database would destroy it.
fn remove_if_misleading(file: &Path) -> anyhow::Result<()> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text.with_context(|| format!("cannot read {}", file.display()))?,
    };
    if let Some(PidFile { pid, .. }) = PidFile::parse(&text)
        && lives(pid)
    {
        if may_be_anothers_postgres(pid) {
            bail!(
                "the process {pid} of another user may be a Postgres that serves this database: stop it, or, if it is \
                 not, remove {}",
                file.display()
            );
        }
        fs::remove_file(file)
            .with_context(|| format!("cannot remove the stale {}", file.display()))?;
    }
    Ok(())
}

/// The processes of Postgres whose working directory this is: all of them have it. `None` on a
/// system without `/proc`, where Postgres's own check must suffice.
fn residents(database: &Path) -> Option<Vec<i32>> {
    let processes = fs::read_dir("/proc").ok()?;
    fs::read_link("/proc/self/cwd").ok()?;
    Some(
        processes
            .filter_map(Result::ok)
            .filter(|process| {
                fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == database)
            })
            .filter(|process| {
                fs::read_to_string(process.path().join("comm"))
                    .is_ok_and(|name| name.trim() == "postgres")
            })
            .filter_map(|process| process.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// Waits until no process works in the directory. `false` if that takes too long.
async fn vacated(database: &Path, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while residents(database).is_some_and(|residents| !residents.is_empty()) {
        if Instant::now() >= deadline {
            return false;
        }
        sleep(POLL).await;
    }
    true
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid)
        && let Err(error) = kill_process(pid, signal)
    {
        warn!(%error, "cannot signal the earlier Postgres");
    }
}

/// Whether a process that cannot be inspected has the name of Postgres, or hides its name.
fn may_be_anothers_postgres(pid: i32) -> bool {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let hidden = fs::read_link(process.join("cwd"))
        .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    match fs::read_to_string(process.join("comm")) {
        Ok(name) => hidden && name.trim() == "postgres",
        // With `hidepid`, processes of other users are not in /proc.
        Err(_) => lives(pid),
    }
}

fn lives(pid: i32) -> bool {
    // A refused signal also proves that the process lives.
    Pid::from_raw(pid).is_some_and(|pid| {
        test_kill_process(pid).map_or_else(|error| error == rustix::io::Errno::PERM, |()| true)
    })
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
