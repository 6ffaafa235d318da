//! A data directory for one test. Dropping it also ends a Postgres that a killed `up` left running
//! in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::Deserialize;
use tempfile::TempDir;

/// A data directory that outlives the processes that use it. Dropping it removes it.
pub(crate) struct DataDir {
    temporary: TempDir,
}

/// The members of `demo.json` that tests need. `up` writes this file for people who want to try
/// Gatehouse.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Demo {
    /// Ends with `/functions/v1`.
    pub(crate) base_url: String,
    /// The URL of the metrics page.
    pub(crate) metrics_url: String,
    pub(crate) site_id: String,
    pub(crate) site_key: String,
    pub(crate) webhook_secret: String,
    /// A token of the demo's team, with every scope.
    pub(crate) management_token: String,
}

impl DataDir {
    /// A path under `/tmp`. `up` creates the directory itself.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::Builder::new()
            .prefix("gatehouse-it-")
            .tempdir()
            .unwrap();
        // When root runs the tests, the service runs as another user, who needs access.
        fs::set_permissions(temporary.path(), Permissions::from_mode(0o711)).unwrap();
        Self { temporary }
    }

    /// The value for `--data-dir`.
    pub(crate) fn path(&self) -> PathBuf {
        self.temporary.path().join("data")
    }

    /// Where the output of `up` goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.temporary.path().join("up.log")
    }

    /// When `demo.json` was last written. `None` if it does not exist.
    pub(crate) fn demo_written_at(&self) -> Option<SystemTime> {
        fs::metadata(self.path().join("demo.json"))
            .and_then(|file| file.modified())
            .ok()
    }

    /// The URL of the private database.
    pub(crate) fn database(&self) -> String {
        let url = fs::read_to_string(self.path().join("postgres.url")).unwrap();
        url.trim().to_owned()
    }

    /// Reads `demo.json`.
    pub(crate) fn demo(&self) -> Demo {
        let text = fs::read_to_string(self.path().join("demo.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

/// A Postgres that neither answers nor ends, as on a machine that hangs. Dropping this wakes it.
pub(crate) struct Frozen(Vec<Pid>);

impl DataDir {
    /// Sends SIGSTOP to every process of the Postgres that serves this directory.
    pub(crate) fn freeze_postgres(&self) -> Frozen {
        let postmaster = postmaster(&self.path().join("postgres")).unwrap();
        // The postmaster first, so that it starts no other processes.
        kill_process(postmaster, Signal::STOP).unwrap();
        let pid = postmaster.as_raw_nonzero();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let children = children.split_ascii_whitespace();
        let children = children.filter_map(|pid| Pid::from_raw(pid.parse().unwrap()));
        let frozen = Frozen([postmaster].into_iter().chain(children).collect());
        for &process in &frozen.0 {
            // A process may have ended in the meantime.
            let _ = kill_process(process, Signal::STOP);
        }
        frozen
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        for &process in &self.0 {
            let _ = kill_process(process, Signal::CONT);
        }
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        let database = self.path().join("postgres");
        if let Some(postmaster) = postmaster(&database) {
            // Quit at once: these data are not needed again.
            let _ = kill_process(postmaster, Signal::QUIT);
            let deadline = Instant::now() + Duration::from_secs(10);
            while test_kill_process(postmaster).is_ok() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// The Postgres that serves this directory. The check of the command line excludes another process
/// that got the same pid.
fn postmaster(database: &Path) -> Option<Pid> {
    let file = fs::read_to_string(database.join("postmaster.pid")).ok()?;
    let pid: i32 = file.lines().next()?.trim().parse().ok()?;
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    let ours = command.contains(database.to_str()?);
    Pid::from_raw(pid).filter(|_| ours)
}
