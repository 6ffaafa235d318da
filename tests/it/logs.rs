//! What an interface and a worker log: each thing once while Postgres is away, and every step of an
//! item with its trace.

mod outage;
mod rescue;
mod steps;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
};

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::support::{admin, gatehouse, text};

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

/// A rule group that needs an analysis, of the only team. Returns its id.
async fn rules(pool: &PgPool, logs: &Logs) -> String {
    let team: String = sqlx::query_scalar("select team_id::text from sites")
        .fetch_one(pool)
        .await
        .unwrap();
    let file = logs.path("rules.yaml");
    let rule = json!({
        "name": "violence", "type": "ai_threshold", "category": "violence", "reject_at": 0.9
    });
    fs::write(
        &file,
        json!({ "name": "rules", "rules": [rule] }).to_string(),
    )
    .unwrap();
    let loading = ["load-rules", "--team", &team, file.to_str().unwrap()];
    text(&admin(pool, &loading), "rule_group_id")
}

/// The message of a line.
fn message(line: &Value) -> &str {
    line["message"].as_str().unwrap_or_default()
}
