//! What an earlier process left behind. When `gatehouse up` is killed with SIGKILL, its Postgres goes on alone; after a
//! power cut, a pid file names a process that is gone, or whose number belongs to a stranger by now.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::time::{Instant, sleep};
use tracing::warn;

use super::server::ORDERLY;

const POLL: Duration = Duration::from_millis(50);
/// Processes of a Postgres whose head was killed end by themselves when their statement does.
const STRAGGLERS: Duration = Duration::from_secs(30);

/// What Postgres notes in `postmaster.pid`: its pid in the first line, its state in the eighth.
#[derive(Debug)]
pub(super) struct PidFile {
    pid: i32,
    ready: bool,
}

impl PidFile {
    /// `None` if there is no file or not yet a whole one.
    pub(super) fn read(database: &Path) -> anyhow::Result<Option<Self>> {
        let path = path(database);
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
    pub(super) fn is_ready(&self, pid: u32) -> bool {
        self.ready && u32::try_from(self.pid) == Ok(pid)
    }
}

fn path(database: &Path) -> PathBuf {
    database.join("postmaster.pid")
}

/// Stops a Postgres that still serves the directory, and removes what would keep a new one from starting. To be called by
/// the holder of the data directory's lock only.
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
    remove_if_misleading(&path(database))?;
    remove_if_misleading(Path::new(&socket_lock))
}

/// Removes the lock file of a process that is gone. Postgres does that itself, but takes any living process of the same
/// number for the owner, and a dead one, too, until its parent has noticed.
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

/// The processes of Postgres that work in a directory: all of them do, from the first to the last. `None` on a system
/// without `/proc`, where Postgres's own judgement has to do.
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

/// Waits until nobody works in the directory; `false` if that takes too long.
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

/// Whether a process that cannot be looked into is called like Postgres, or does not even show its name.
fn may_be_anothers_postgres(pid: i32) -> bool {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let hidden = fs::read_link(process.join("cwd"))
        .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    match fs::read_to_string(process.join("comm")) {
        Ok(name) => hidden && name.trim() == "postgres",
        // With `hidepid`, others' processes are not in /proc at all.
        Err(_) => lives(pid),
    }
}

fn lives(pid: i32) -> bool {
    // A refused signal is proof of life as well.
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
