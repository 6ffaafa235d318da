//! Dead jobs, counted by queue, cause and error.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use queue::dead_jobs::Group;
use serde_json::{Value, json};

use crate::commands::queue::{
    ago,
    table::{Left, Right, Table, counted, one_line, thousands},
};

/// The groups as a table, and how many jobs are in groups that are not shown.
pub(crate) fn groups_text(now: DateTime<Utc>, total: u64, groups: &[Group]) -> String {
    if groups.is_empty() {
        return "No dead job matches.\n".to_owned();
    }
    let mut table = Table::new([
        ("JOBS", Right),
        ("QUEUE", Left),
        ("LANES", Right),
        ("CAUSE", Left),
        ("FIRST", Right),
        ("LAST", Right),
        ("ERROR", Left),
    ]);
    for group in groups {
        table.push([
            thousands(group.jobs),
            group.queue.clone(),
            thousands(group.lanes),
            group.cause.as_str().to_owned(),
            ago(now, group.first_died_at),
            ago(now, group.last_died_at),
            one_line(&group.error),
        ]);
    }
    let shown: u64 = groups.iter().map(|group| group.jobs.unsigned_abs()).sum();
    let mut text = table.render();
    if let Some(others @ 1..) = total.checked_sub(shown) {
        let others = counted(others, "job", "jobs");
        let _ = writeln!(
            text,
            "\nThese are the largest groups; {others} more in others."
        );
    }
    text
}

pub(crate) fn group_document(group: &Group) -> Value {
    json!({
        "queue": group.queue,
        "cause": group.cause.as_str(),
        "error": group.error,
        "jobs": group.jobs,
        "lanes": group.lanes,
        "first_died_at": group.first_died_at,
        "last_died_at": group.last_died_at,
    })
}
