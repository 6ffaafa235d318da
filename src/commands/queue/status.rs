//! `gatehouse queue status`: the queues, what holds their jobs back, their workers, and what holds
//! groups and lanes back.

mod bottlenecks;

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use management::{
    Caller, Management, Refused,
    queues::{self, QueueState, Worker},
};
use queue::{Group, depth::QueueStats, groups::GroupStats, lanes::LaneStats, queues::Restrictions};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Report, ago, until};
use crate::{
    command_line::told,
    commands::table::{Left, Right, Table, counted, thousands},
    duration::humane,
};
use bottlenecks::{binding, bound_document, bound_lines};

/// How many groups or lanes without a pause or cap are listed.
const BUSIEST: u32 = 10;
/// The most groups or lanes that are listed.
const MOST_LANES: u32 = 500;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Args {
    /// List the paused and capped lanes, and the ten with the most due jobs
    #[arg(long)]
    lanes: bool,
    /// List the paused and capped groups (teams), and the ten with the most due jobs
    #[arg(long)]
    groups: bool,
    /// Show one group (a team) in each queue
    #[arg(long, value_name = "UUID", value_parser = super::group)]
    group: Option<Group>,
}

pub(super) async fn run(management: &Arc<Management>, args: Args) -> anyhow::Result<Report> {
    let caller = &Caller::command_line(management);
    let overview = queues::list(caller).await.map_err(told)?;
    let (now, queues, workers) = (overview.at, overview.queues, overview.workers);
    let mut text = queue_table(now, &queues);
    text += &bound_lines(&queues, &workers);
    text += &worker_table(now, &workers);
    let mut document = json!({
        "at": now,
        "queues": queues.iter().map(|queue| with_bound(queue, &workers)).collect::<Vec<_>>(),
        "workers": workers.iter().map(worker_document).collect::<Vec<_>>(),
    });
    if args.groups || args.group.is_some() {
        let groups = match args.group {
            Some(group) => of_group(management, group).await,
            None => queues::held_groups(caller, BUSIEST, MOST_LANES).await,
        };
        let (table, list) = sections(now, ("group", "GROUP"), &groups.map_err(told)?);
        text += &table;
        document["groups"] = list;
    }
    if args.lanes {
        let lanes = queues::held_lanes(caller, BUSIEST, MOST_LANES).await;
        let (table, list) = sections(now, ("lane", "LANE"), &lanes.map_err(told)?);
        text += &table;
        document["lanes"] = list;
    }
    Ok(Report::new(text, document))
}

/// A queue, and what holds its jobs back.
fn with_bound(queue: &QueueState, workers: &[Worker]) -> Value {
    let mut document = queue_document(&queue.stats, &queue.restrictions);
    document["bound"] = bound_document(binding(&queue.stats.queue, workers));
    document
}

fn queue_table(now: DateTime<Utc>, queues: &[QueueState]) -> String {
    let mut table = Table::new([
        ("QUEUE", Left),
        ("DUE", Right),
        ("OLDEST", Right),
        ("RUNNING", Right),
        ("SCHEDULED", Right),
        ("DEAD", Right),
        ("HELD BACK", Left),
    ]);
    for queue in queues {
        let (stats, restrictions) = (&queue.stats, &queue.restrictions);
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

fn held_back(now: DateTime<Utc>, restrictions: &Restrictions) -> String {
    let mut reasons = Vec::new();
    if restrictions.is_paused {
        reasons.push(format!("paused {}", until(now, restrictions.paused_until)));
    }
    for (count, one, many, how) in [
        (restrictions.paused_groups, "group", "groups", "paused"),
        (restrictions.capped_groups, "group", "groups", "capped"),
        (restrictions.paused_lanes, "lane", "lanes", "paused"),
        (restrictions.capped_lanes, "lane", "lanes", "capped"),
    ] {
        if count > 0 {
            reasons.push(format!("{} {how}", counted(count, one, many)));
        }
    }
    if reasons.is_empty() {
        "-".to_owned()
    } else {
        reasons.join(", ")
    }
}

pub(super) fn queue_document(stats: &QueueStats, restrictions: &Restrictions) -> Value {
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

fn worker_table(now: DateTime<Utc>, workers: &[Worker]) -> String {
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

fn worker_document(worker: &Worker) -> Value {
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

/// One group in each queue.
async fn of_group(management: &Arc<Management>, group: Group) -> Result<Vec<GroupStats>, Refused> {
    let caller = Caller::command_line(management);
    let mut found = Vec::new();
    for queue in store::jobs::ALL {
        let group = queues::get_group(&caller, queue.as_str(), group).await?;
        found.push(group);
    }
    Ok(found)
}

/// A group or a lane: its jobs, and what holds them back.
pub(super) struct Section<'a> {
    kind: &'static str,
    queue: &'a str,
    id: Uuid,
    pub(super) due: i64,
    pub(super) running: i64,
    cap: Option<i32>,
    is_paused: bool,
    pub(super) paused_until: Option<DateTime<Utc>>,
}

impl<'a> From<&'a GroupStats> for Section<'a> {
    fn from(group: &'a GroupStats) -> Self {
        Self {
            kind: "group",
            queue: &group.queue,
            id: group.group.0,
            due: group.due,
            running: group.running,
            cap: group.cap,
            is_paused: group.is_paused,
            paused_until: group.paused_until,
        }
    }
}

impl<'a> From<&'a LaneStats> for Section<'a> {
    fn from(lane: &'a LaneStats) -> Self {
        Self {
            kind: "lane",
            queue: &lane.queue,
            id: lane.lane.0,
            due: lane.due,
            running: lane.running,
            cap: lane.cap,
            is_paused: lane.is_paused,
            paused_until: lane.paused_until,
        }
    }
}

impl Section<'_> {
    pub(super) fn document(&self) -> Value {
        json!({
            "queue": self.queue,
            (self.kind): self.id,
            "due": self.due,
            "running": self.running,
            "cap": self.cap,
            "paused": self.is_paused,
            "paused_until": self.paused_until,
        })
    }
}

/// Lists groups or lanes, for people and for programs.
fn sections<'a, T>(
    now: DateTime<Utc>,
    (kind, heading): (&str, &'static str),
    all: &'a [T],
) -> (String, Value)
where
    Section<'a>: From<&'a T>,
{
    if all.is_empty() {
        let none = format!("\nNo {kind} is paused or capped, and none has a due job.\n");
        return (none, json!([]));
    }
    let mut table = Table::new([
        ("QUEUE", Left),
        (heading, Left),
        ("DUE", Right),
        ("RUNNING", Right),
        ("CAP", Right),
        ("PAUSED", Left),
    ]);
    let sections: Vec<Section<'a>> = all.iter().map(Section::from).collect();
    for section in &sections {
        table.push([
            section.queue.to_owned(),
            section.id.to_string(),
            thousands(section.due),
            thousands(section.running),
            section.cap.map_or_else(|| "-".to_owned(), thousands),
            if section.is_paused {
                until(now, section.paused_until)
            } else {
                "-".to_owned()
            },
        ]);
    }
    let more = if all.len() >= MOST_LANES as usize {
        format!("\nThese are the {MOST_LANES} with the most due jobs.\n")
    } else {
        String::new()
    };
    let documents = sections.iter().map(Section::document).collect();
    (format!("\n{}{more}", table.render()), documents)
}
