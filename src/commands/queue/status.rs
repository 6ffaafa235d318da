//! `gatehouse queue status`: the queues, what holds their jobs back, their workers, and what holds
//! groups and lanes back.

mod bottlenecks;
mod groups_and_lanes;
mod processes;
mod queue_table;

use management::{
    Caller, Management,
    queues::{self, QueueState, Worker},
};
use queue::Group;
use serde_json::{Value, json};

use super::Report;
use crate::command_line::told;
use bottlenecks::{binding, bound_document, bound_lines};
use groups_and_lanes::{group_table, lane_table, of_group};
use processes::{worker_document, worker_table};
use queue_table::queue_table;

pub(super) use groups_and_lanes::{group_document, lane_document};
pub(super) use queue_table::queue_document;

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

pub(super) async fn run(management: &Management, args: Args) -> anyhow::Result<Report> {
    let caller = &Caller::command_line();
    let overview = queues::list(management, caller).await.map_err(told)?;
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
            None => queues::held_groups(management, caller, BUSIEST, MOST_LANES).await,
        };
        let groups = groups.map_err(told)?;
        text += &group_table(now, &groups);
        document["groups"] = groups.iter().map(group_document).collect();
    }
    if args.lanes {
        let lanes = queues::held_lanes(management, caller, BUSIEST, MOST_LANES).await;
        let lanes = lanes.map_err(told)?;
        text += &lane_table(now, &lanes);
        document["lanes"] = lanes.iter().map(lane_document).collect();
    }
    Ok(Report::new(text, document))
}

/// A queue, and what holds its jobs back.
fn with_bound(queue: &QueueState, workers: &[Worker]) -> Value {
    let mut document = queue_document(&queue.stats, &queue.restrictions);
    document["bound"] = bound_document(binding(&queue.stats.queue, workers));
    document
}
