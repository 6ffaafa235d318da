//! `gatehouse queue status`: the queues, their workers, and what holds groups and lanes back.

mod held;
mod overview;
mod processes;

use queue::{Group, groups, lanes, workers};
use serde_json::json;
use sqlx::PgConnection;

use super::Report;
use held::{group_table, lane_table, of_group};
use overview::{queue_table, read};
use processes::{worker_document, worker_table};

pub(super) use held::{group_document, lane_document};
pub(super) use overview::queue_document;

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
