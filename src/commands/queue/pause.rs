//! `gatehouse queue pause`, `resume` and `cap`: holding back a queue, or one of its groups or lanes.

use std::{fmt, fmt::Write as _, time::Duration};

use chrono::{DateTime, Utc};
use queue::{
    Group, Lane, QueueName, groups, lanes,
    queues::{self, Restrictions},
    stats::{self, QueueStats},
};
use serde_json::Value;
use sqlx::PgConnection;

use super::{
    Report, group, lane, status,
    table::{counted, thousands},
    until,
};
use crate::{config::queue_name, duration};

/// What is held back.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Target {
    /// The queue
    #[arg(long, value_parser = queue_name())]
    queue: QueueName,
    #[command(flatten)]
    part: Part,
}

/// What of the queue; without, the whole queue.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "part", multiple = false)]
struct Part {
    /// A group: a team, with all its lanes
    #[arg(long, value_name = "UUID", value_parser = group)]
    group: Option<Group>,
    /// A lane: a team in analysis, rules, backtests and recoveries, an endpoint in webhooks
    #[arg(long, value_name = "UUID", value_parser = lane)]
    lane: Option<Lane>,
}

/// One part of a queue.
#[derive(Clone, Copy, Debug)]
enum Held {
    Queue,
    Group(Group),
    Lane(Lane),
}

impl Part {
    fn held(self) -> Held {
        match (self.group, self.lane) {
            (Some(group), _) => Held::Group(group),
            (None, Some(lane)) => Held::Lane(lane),
            (None, None) => Held::Queue,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part.held() {
            Held::Group(group) => write!(f, "Group {} of {}", group.0, self.queue),
            Held::Lane(lane) => write!(f, "Lane {} of {}", lane.0, self.queue),
            Held::Queue => write!(f, "The queue {}", self.queue),
        }
    }
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    target: Target,
    /// How long, for example 10m or 2h. A pause that already lasts longer stays [default: until you resume it]
    #[arg(long = "for", value_name = "DURATION", value_parser = pause_duration)]
    duration: Option<Duration>,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct CapArgs {
    /// The queue
    #[arg(long, value_parser = queue_name())]
    queue: QueueName,
    #[command(flatten)]
    part: Part,
    /// How many jobs can run at once, or `none` for the queue's default
    #[arg(value_parser = cap_value)]
    cap: Cap,
}

#[derive(Clone, Copy, Debug)]
struct Cap(Option<u32>);

fn pause_duration(text: &str) -> Result<Duration, String> {
    let duration = duration::parse(text)?;
    if duration.is_zero() {
        return Err("a pause must be longer than 0; to end a pause, use `resume`".to_owned());
    }
    Ok(duration)
}

fn cap_value(text: &str) -> Result<Cap, String> {
    if text == "none" {
        return Ok(Cap(None));
    }
    let cap = text.parse().ok().filter(|cap| *cap > 0);
    cap.map(|cap| Cap(Some(cap))).ok_or_else(|| {
        "must be a whole number from 1, or none; to stop a group or a lane, use `pause`".to_owned()
    })
}

pub(super) async fn pause(conn: &mut PgConnection, args: PauseArgs) -> anyhow::Result<Report> {
    let Target { queue, part } = args.target;
    match part.held() {
        Held::Group(group) => groups::pause(conn, queue, group, args.duration).await?,
        Held::Lane(lane) => lanes::pause(conn, queue, lane, args.duration).await?,
        Held::Queue => queues::pause(conn, queue, args.duration).await?,
    }
    let after = After::read(conn, args.target).await?;
    let text = format!(
        "{} is paused {}. {}\n",
        args.target,
        until(after.now, after.paused_until),
        after.load()
    );
    Ok(Report::new(text, after.document))
}

pub(super) async fn resume(conn: &mut PgConnection, args: ResumeArgs) -> anyhow::Result<Report> {
    let Target { queue, part } = args.target;
    let resumed = match part.held() {
        Held::Group(group) => groups::resume(conn, queue, group).await?,
        Held::Lane(lane) => lanes::resume(conn, queue, lane).await?,
        Held::Queue => queues::resume(conn, queue).await?,
    };
    queue::wake(conn, &[queue.as_str()]).await?;
    let after = After::read(conn, args.target).await?;
    let verb = if resumed {
        "is resumed"
    } else {
        "was not paused"
    };
    let mut text = format!("{} {verb}. {}\n", args.target, after.load());
    let is_whole = matches!(part.held(), Held::Queue);
    if !is_whole && after.queue.is_paused {
        let _ = writeln!(
            text,
            "The whole queue is still paused. To end that: gatehouse queue resume --queue {queue}"
        );
    }
    if is_whole && after.queue.paused_groups > 0 {
        let groups = counted(after.queue.paused_groups, "group", "groups");
        let _ = writeln!(
            text,
            "{groups} of the queue stay paused. To see them: gatehouse queue status --groups"
        );
    }
    if is_whole && after.queue.paused_lanes > 0 {
        let lanes = counted(after.queue.paused_lanes, "lane", "lanes");
        let _ = writeln!(
            text,
            "{lanes} of the queue stay paused. To see them: gatehouse queue status --lanes"
        );
    }
    let mut document = after.document;
    document["resumed"] = resumed.into();
    Ok(Report::new(text, document))
}

pub(super) async fn cap(conn: &mut PgConnection, args: CapArgs) -> anyhow::Result<Report> {
    let target = Target {
        queue: args.queue,
        part: args.part,
    };
    match args.part.held() {
        Held::Group(group) => groups::set_cap(conn, args.queue, group, args.cap.0).await?,
        Held::Lane(lane) => lanes::set_cap(conn, args.queue, lane, args.cap.0).await?,
        Held::Queue => anyhow::bail!("a cap applies to a group or a lane: give --group or --lane"),
    }
    queue::wake(conn, &[args.queue.as_str()]).await?;
    let after = After::read(conn, target).await?;
    let cap = match args.cap.0 {
        Some(cap) => format!("runs at most {} at once", counted(cap, "job", "jobs")),
        None => "has the default cap of its queue".to_owned(),
    };
    let text = format!("{target} {cap}. {}\n", after.load());
    Ok(Report::new(text, after.document))
}

/// How things stand after the command.
struct After {
    now: DateTime<Utc>,
    queue: Restrictions,
    /// Of the group or the lane, or of the queue if it is meant.
    paused_until: Option<DateTime<Utc>>,
    due: i64,
    running: i64,
    document: Value,
}

impl After {
    async fn read(conn: &mut PgConnection, target: Target) -> anyhow::Result<Self> {
        let now = queue::now(conn).await?;
        let name = target.queue.as_str();
        let mut restrictions = queues::restrictions(conn).await?.into_iter();
        let queue = restrictions
            .find(|restrictions| restrictions.queue == name)
            .unwrap_or_default();
        match target.part.held() {
            Held::Group(group) => {
                let group = groups::read(conn, target.queue, group).await?;
                return Ok(Self {
                    now,
                    queue,
                    paused_until: group.paused_until,
                    due: group.due,
                    running: group.running,
                    document: status::group_document(&group),
                });
            }
            Held::Lane(lane) => {
                let lane = lanes::read(conn, target.queue, lane).await?;
                return Ok(Self {
                    now,
                    queue,
                    paused_until: lane.paused_until,
                    due: lane.due,
                    running: lane.running,
                    document: status::lane_document(&lane),
                });
            }
            Held::Queue => {}
        }
        let mut stats = stats::read(conn, &store::jobs::LANE_CAPS, &[])
            .await?
            .into_iter();
        let stats = stats
            .find(|stats| stats.queue == name)
            .unwrap_or_else(|| QueueStats {
                queue: name.to_owned(),
                ..QueueStats::default()
            });
        Ok(Self {
            now,
            paused_until: queue.paused_until,
            due: stats.due,
            running: stats.running,
            document: status::queue_document(&stats, &queue),
            queue,
        })
    }

    fn load(&self) -> String {
        format!(
            "{} due, {} running.",
            counted(self.due, "job is", "jobs are"),
            thousands(self.running)
        )
    }
}
