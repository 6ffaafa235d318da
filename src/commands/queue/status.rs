//! `gatehouse queue status`: the queues, their workers, and what holds groups and lanes back.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use queue::{
    Group,
    groups::{self, GroupStats},
    lanes::{self, LaneStats},
    queues::{self, Restrictions},
    stats::{self, QueueStats},
    workers::{self, Worker},
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    Report, ago,
    table::{Left, Right, Table, counted, thousands},
    until,
};
use crate::duration::humane;

/// How many groups or lanes are listed although nothing holds them back.
const BUSIEST: u32 = 10;
/// How many are listed at all.
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

struct Queue {
    stats: QueueStats,
    restrictions: Restrictions,
}

pub(super) async fn run(conn: &mut PgConnection, args: Args) -> anyhow::Result<Report> {
    let now = queue::now(conn).await?;
    let queues = read(conn).await?;
    let workers = workers::living(conn).await?;
    let mut text = queue_table(now, &queues);
    text += &worker_table(now, &workers);
    let mut document = json!({
        "at": now,
        "queues": queues.iter().map(|queue| queue_document(&queue.stats, &queue.restrictions)).collect::<Vec<_>>(),
        "workers": workers.iter().map(worker_document).collect::<Vec<_>>(),
    });
    if args.groups || args.group.is_some() {
        let groups = match args.group {
            Some(group) => of_group(conn, group).await?,
            None => groups::list(conn, BUSIEST, MOST_LANES).await?,
        };
        text += &group_table(now, &groups);
        document["groups"] = groups.iter().map(group_document).collect();
    }
    if args.lanes {
        let lanes = lanes::list(conn, BUSIEST, MOST_LANES).await?;
        text += &lane_table(now, &lanes);
        document["lanes"] = lanes.iter().map(lane_document).collect();
    }
    Ok(Report::new(text, document))
}

/// A group in each of our queues.
async fn of_group(conn: &mut PgConnection, group: Group) -> anyhow::Result<Vec<GroupStats>> {
    let mut found = Vec::new();
    for queue in store::jobs::ALL {
        found.push(groups::read(conn, queue, group).await?);
    }
    Ok(found)
}

/// Our own queues first, also when they are empty, then any others that there are.
async fn read(conn: &mut PgConnection) -> anyhow::Result<Vec<Queue>> {
    let mut stats: BTreeMap<String, QueueStats> = stats::read(conn, &store::jobs::LANE_CAPS, &[])
        .await?
        .into_iter()
        .map(|stats| (stats.queue.clone(), stats))
        .collect();
    let mut restrictions: BTreeMap<String, Restrictions> = queues::restrictions(conn)
        .await?
        .into_iter()
        .map(|restrictions| (restrictions.queue.clone(), restrictions))
        .collect();
    let mut names: Vec<String> = store::jobs::ALL.map(|name| name.to_string()).into();
    for name in stats.keys().chain(restrictions.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let queues = names.into_iter().map(|name| Queue {
        stats: stats.remove(&name).unwrap_or_else(|| QueueStats {
            queue: name.clone(),
            ..QueueStats::default()
        }),
        restrictions: restrictions.remove(&name).unwrap_or_else(|| Restrictions {
            queue: name,
            ..Restrictions::default()
        }),
    });
    Ok(queues.collect())
}

fn queue_table(now: DateTime<Utc>, queues: &[Queue]) -> String {
    let mut table = Table::new([
        ("QUEUE", Left),
        ("DUE", Right),
        ("OLDEST", Right),
        ("RUNNING", Right),
        ("SCHEDULED", Right),
        ("DEAD", Right),
        ("HELD BACK", Left),
    ]);
    for Queue {
        stats,
        restrictions,
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

fn held_back(now: DateTime<Utc>, restrictions: &Restrictions) -> String {
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
    ]);
    for worker in workers {
        let left = Duration::try_from_secs_f64(worker.lease_left_seconds).unwrap_or_default();
        table.push([
            worker.id.to_string(),
            ago(now, worker.started_at),
            humane(left),
            thousands(worker.running),
        ]);
    }
    format!("\n{}", table.render())
}

fn worker_document(worker: &Worker) -> Value {
    json!({
        "worker": worker.id,
        "started_at": worker.started_at,
        "lease_left_seconds": worker.lease_left_seconds,
        "running": worker.running,
    })
}

fn lane_table(now: DateTime<Utc>, lanes: &[LaneStats]) -> String {
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

fn group_table(now: DateTime<Utc>, groups: &[GroupStats]) -> String {
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

/// What is shown of a group or a lane.
struct Held<'a> {
    queue: &'a str,
    id: Uuid,
    due: i64,
    running: i64,
    cap: Option<i32>,
    is_paused: bool,
    paused_until: Option<DateTime<Utc>>,
}

fn held_table<'a>(
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

pub(super) fn group_document(group: &GroupStats) -> Value {
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

pub(super) fn lane_document(lane: &LaneStats) -> Value {
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
