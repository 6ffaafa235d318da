//! A data directory of its own for each test, and the end of whatever Postgres a killed `up` left in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::Deserialize;
use tempfile::TempDir;

/// A data directory that outlives the processes which use it. Removed on drop.
pub(crate) struct DataDir {
    temporary: TempDir,
}

/// What `up` writes down for those who want to try it: `demo.json`, as far as tests need it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Demo {
    /// Ends with `/functions/v1`.
    pub(crate) base_url: String,
    /// Of the metrics page.
    pub(crate) metrics_url: String,
    pub(crate) site_id: String,
    pub(crate) site_key: String,
    pub(crate) webhook_secret: String,
    /// Of the demo's team, with every scope.
    pub(crate) management_token: String,
}

impl DataDir {
    /// An empty place under `/tmp`; `up` makes the directory itself.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::Builder::new()
            .prefix("gatehouse-it-")
            .tempdir()
            .unwrap();
        // Root's service runs as another user, who must pass through.
        fs::set_permissions(temporary.path(), Permissions::from_mode(0o711)).unwrap();
        Self { temporary }
    }

    /// What `--data-dir` is to be.
    pub(crate) fn path(&self) -> PathBuf {
        self.temporary.path().join("data")
    }

    /// Where the output of `up` goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.temporary.path().join("up.log")
    }

    /// When `demo.json` was last written; none if it is not there.
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

    /// What `demo.json` says.
    pub(crate) fn demo(&self) -> Demo {
        let text = fs::read_to_string(self.path().join("demo.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

/// A Postgres that does nothing: no answer, no end, as on a machine that hangs. It goes on when this is dropped.
pub(crate) struct Frozen(Vec<Pid>);

impl DataDir {
    /// Stops every process of the Postgres that serves this directory, without their knowledge.
    pub(crate) fn freeze_postgres(&self) -> Frozen {
        let postmaster = postmaster(&self.path().join("postgres")).unwrap();
        // It first, so that it starts no others.
        kill_process(postmaster, Signal::STOP).unwrap();
        let pid = postmaster.as_raw_nonzero();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let children = children.split_ascii_whitespace();
        let children = children.filter_map(|pid| Pid::from_raw(pid.parse().unwrap()));
        let frozen = Frozen([postmaster].into_iter().chain(children).collect());
        for &process in &frozen.0 {
            // One may have ended meanwhile.
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
            // Quit at once: nobody needs these data again.
            let _ = kill_process(postmaster, Signal::QUIT);
            let deadline = Instant::now() + Duration::from_secs(10);
            while test_kill_process(postmaster).is_ok() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// The Postgres that serves this directory. A pid that belongs to a stranger by now is not taken for it.
fn postmaster(database: &Path) -> Option<Pid> {
    let file = fs::read_to_string(database.join("postmaster.pid")).ok()?;
    let pid: i32 = file.lines().next()?.trim().parse().ok()?;
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    let ours = command.contains(database.to_str()?);
    Pid::from_raw(pid).filter(|_| ours)
}
