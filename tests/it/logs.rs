//! What an interface and a worker log: each thing once while Postgres is away, and every step of an
//! item with its trace.

mod outage;
mod steps;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
};

use serde_json::Value;
use sqlx::PgPool;
use tempfile::TempDir;

use crate::support::gatehouse;

/// The directory of the logs of some processes.
struct Logs(TempDir);

impl Logs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, process: &str) -> PathBuf {
        self.0.path().join(process)
    }

    /// The program, which logs JSON to a file of this name.
    fn command(&self, pool: &PgPool, process: &str) -> Command {
        let log = File::create(self.path(process)).unwrap();
        let mut command = gatehouse(pool);
        command.env("GATEHOUSE_LOG_FORMAT", "json").stderr(log);
        command
    }

    /// The lines that a process has logged so far.
    fn lines(&self, process: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.path(process)).unwrap();
        // The last line may not be complete.
        let (whole, _) = log.rsplit_once('\n').unwrap_or_default();
        let line = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        whole.lines().map(line).collect()
    }
}

/// The message of a line.
fn message(line: &Value) -> &str {
    line["message"].as_str().unwrap_or_default()
}
