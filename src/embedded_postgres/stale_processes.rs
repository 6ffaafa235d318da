//! What an earlier process left behind. If `gatehouse up` is killed with SIGKILL, its Postgres
//! keeps running. After a power cut, a pid file names a process that is gone, or another process
//! that has the same number now.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::time::{Instant, sleep};
use tracing::warn;

use super::server::{ORDERLY, PidFile, pid_file};

const POLL: Duration = Duration::from_millis(50);
/// If the main process of Postgres was killed, its other processes end when their statement ends.
const STRAGGLERS: Duration = Duration::from_secs(30);

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
