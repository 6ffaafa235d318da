//! The tables of groups and lanes, and what holds them back.

use chrono::{DateTime, Utc};
use management::{Caller, Management, Refused, queues};
use queue::{Group, groups::GroupStats, lanes::LaneStats};
use serde_json::{Value, json};
use uuid::Uuid;

use super::MOST_LANES;
use crate::commands::queue::{
    table::{Left, Right, Table, thousands},
    until,
};

/// One group in each queue.
pub(super) async fn of_group(
    management: &Management,
    group: Group,
) -> Result<Vec<GroupStats>, Refused> {
    let caller = Caller::command_line();
    let mut found = Vec::new();
    for queue in store::jobs::ALL {
        let group = queues::get_group(management, &caller, queue.as_str(), group).await?;
        found.push(group);
    }
    Ok(found)
}

pub(super) fn lane_table(now: DateTime<Utc>, lanes: &[LaneStats]) -> String {
    if lanes.is_empty() {
        return "\nNo lane is paused or capped, and none has a due job.\n".to_owned();
    }
    let rows = lanes.iter().map(|lane| Held {
        queue: &lane.queue,
        id: lane.lane.0,
        due: lane.due,
        running: lane.running,
        cap: lane.cap,
        is_paused: lane.is_paused,
        paused_until: lane.paused_until,
    });
    held_table(now, "LANE", rows)
}

pub(super) fn group_table(now: DateTime<Utc>, groups: &[GroupStats]) -> String {
    if groups.is_empty() {
        return "\nNo group is paused or capped, and none has a due job.\n".to_owned();
    }
    let rows = groups.iter().map(|group| Held {
        queue: &group.queue,
        id: group.group.0,
        due: group.due,
        running: group.running,
        cap: group.cap,
        is_paused: group.is_paused,
        paused_until: group.paused_until,
    });
    held_table(now, "GROUP", rows)
}

/// A row for a group or a lane.
pub(super) struct Held<'a> {
    queue: &'a str,
    id: Uuid,
    due: i64,
    running: i64,
    cap: Option<i32>,
    is_paused: bool,
    paused_until: Option<DateTime<Utc>>,
}

pub(super) fn held_table<'a>(
    now: DateTime<Utc>,
    name: &'static str,
    rows: impl ExactSizeIterator<Item = Held<'a>>,
) -> String {
    let mut table = Table::new([
        ("QUEUE", Left),
        (name, Left),
        ("DUE", Right),
        ("RUNNING", Right),
        ("CAP", Right),
        ("PAUSED", Left),
    ]);
    let is_cut = rows.len() >= MOST_LANES as usize;
    for row in rows {
        table.push([
            row.queue.to_owned(),
            row.id.to_string(),
            thousands(row.due),
            thousands(row.running),
            row.cap.map_or_else(|| "-".to_owned(), thousands),
            if row.is_paused {
                until(now, row.paused_until)
            } else {
                "-".to_owned()
            },
        ]);
    }
    let more = if is_cut {
        format!("\nThese are the {MOST_LANES} with the most due jobs.\n")
    } else {
        String::new()
    };
    format!("\n{}{more}", table.render())
}

pub(crate) fn group_document(group: &GroupStats) -> Value {
    json!({
        "queue": group.queue,
        "group": group.group.0,
        "due": group.due,
        "running": group.running,
        "cap": group.cap,
        "paused": group.is_paused,
        "paused_until": group.paused_until,
    })
}

pub(crate) fn lane_document(lane: &LaneStats) -> Value {
    json!({
        "queue": lane.queue,
        "lane": lane.lane.0,
        "due": lane.due,
        "running": lane.running,
        "cap": lane.cap,
        "paused": lane.is_paused,
        "paused_until": lane.paused_until,
    })
}
