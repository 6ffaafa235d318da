//! The table of queues.

use std::time::Duration;

use chrono::{DateTime, Utc};
use management::queues::QueueState;
use queue::{depth::QueueStats, queues::Restrictions};
use serde_json::{Value, json};

use crate::{
    commands::queue::{
        table::{Left, Right, Table, counted, thousands},
        until,
    },
    duration::humane,
};

pub(super) fn queue_table(now: DateTime<Utc>, queues: &[QueueState]) -> String {
    let mut table = Table::new([
        ("QUEUE", Left),
        ("DUE", Right),
        ("OLDEST", Right),
        ("RUNNING", Right),
        ("SCHEDULED", Right),
        ("DEAD", Right),
        ("HELD BACK", Left),
    ]);
    for QueueState {
        stats,
        restrictions,
        ..
    } in queues
    {
        let oldest = Duration::try_from_secs_f64(stats.oldest_due_seconds).unwrap_or_default();
        table.push([
            stats.queue.clone(),
            thousands(stats.due),
            if stats.due > 0 {
                humane(oldest)
            } else {
                "-".to_owned()
            },
            thousands(stats.running),
            thousands(stats.scheduled),
            thousands(stats.dead),
            held_back(now, restrictions),
        ]);
    }
    table.render()
}

pub(super) fn held_back(now: DateTime<Utc>, restrictions: &Restrictions) -> String {
    let mut reasons = Vec::new();
    if restrictions.is_paused {
        reasons.push(format!("paused {}", until(now, restrictions.paused_until)));
    }
    if restrictions.paused_groups > 0 {
        let groups = counted(restrictions.paused_groups, "group", "groups");
        reasons.push(format!("{groups} paused"));
    }
    if restrictions.capped_groups > 0 {
        let groups = counted(restrictions.capped_groups, "group", "groups");
        reasons.push(format!("{groups} capped"));
    }
    if restrictions.paused_lanes > 0 {
        let lanes = counted(restrictions.paused_lanes, "lane", "lanes");
        reasons.push(format!("{lanes} paused"));
    }
    if restrictions.capped_lanes > 0 {
        let lanes = counted(restrictions.capped_lanes, "lane", "lanes");
        reasons.push(format!("{lanes} capped"));
    }
    if reasons.is_empty() {
        "-".to_owned()
    } else {
        reasons.join(", ")
    }
}

pub(crate) fn queue_document(stats: &QueueStats, restrictions: &Restrictions) -> Value {
    json!({
        "queue": stats.queue,
        "due": stats.due,
        "runnable": stats.runnable,
        "oldest_due_seconds": stats.oldest_due_seconds,
        "running": stats.running,
        "scheduled": stats.scheduled,
        "dead": stats.dead,
        "paused": restrictions.is_paused,
        "paused_until": restrictions.paused_until,
        "paused_groups": restrictions.paused_groups,
        "capped_groups": restrictions.capped_groups,
        "paused_lanes": restrictions.paused_lanes,
        "capped_lanes": restrictions.capped_lanes,
    })
}
