//! The table of worker processes.

use std::time::Duration;

use chrono::{DateTime, Utc};
use queue::workers::Worker;
use serde_json::{Value, json};

use crate::{
    commands::queue::{
        ago,
        table::{Left, Right, Table, thousands},
    },
    duration::humane,
};

pub(super) fn worker_table(now: DateTime<Utc>, workers: &[Worker]) -> String {
    if workers.is_empty() {
        return "\nThere is no live worker. Jobs run when a worker starts.\n".to_owned();
    }
    let mut table = Table::new([
        ("PROCESS", Left),
        ("STARTED", Right),
        ("LEASE LEFT", Right),
        ("RUNNING", Right),
        ("WHERE", Left),
    ]);
    for worker in workers {
        let left = Duration::try_from_secs_f64(worker.lease_left_seconds).unwrap_or_default();
        table.push([
            worker.id.to_string(),
            ago(now, worker.started_at),
            humane(left),
            thousands(worker.running),
            worker.process.to_string(),
        ]);
    }
    format!("\n{}", table.render())
}

pub(super) fn worker_document(worker: &Worker) -> Value {
    json!({
        "worker": worker.id,
        "host": worker.process.host,
        "pid": worker.process.pid,
        "role": worker.process.role,
        "metrics_address": worker.process.metrics_address,
        "version": worker.process.version,
        "started_at": worker.started_at,
        "lease_left_seconds": worker.lease_left_seconds,
        "running": worker.running,
    })
}
