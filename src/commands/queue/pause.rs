//! `gatehouse queue pause`, `resume` and `cap`: pauses and caps for a queue, or for one of its
//! groups or lanes.

use std::sync::Arc;

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

use chrono::{DateTime, Utc};
use management::{
    Caller, Management, Refused,
    queues::{self, Pause, Updated},
};
use queue::{Group, Lane, QueueName, queues::Restrictions};
use serde_json::Value;

use super::{
    Report, group, lane,
    status::{self, Section},
    until, wake,
};
use crate::{
    command_line::told,
    commands::table::{counted, thousands},
    config::queue_name,
    duration,
};

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    target: Target,
    /// How long, for example 10m or 2h. A pause that already lasts longer stays [default: until you resume it]
    #[arg(long = "for", value_name = "DURATION", value_parser = pause_duration)]
    duration: Option<Duration>,
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct CapArgs {
    #[command(flatten)]
    target: Target,
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

pub(super) async fn pause(management: &Arc<Management>, args: PauseArgs) -> anyhow::Result<Report> {
    let pause = args.duration.map_or(Pause::UntilResumed, Pause::For);
    let after = PauseResult::updating(management, args.target, Some(pause), None).await;
    let after = after.map_err(told)?;
    let text = format!(
        "{} is paused {}. {}\n",
        args.target,
        until(after.now, after.paused_until),
        after.load()
    );
    Ok(Report::new(text, after.document))
}

pub(super) async fn resume(management: &Arc<Management>, target: Target) -> anyhow::Result<Report> {
    let Target { queue, part } = target;
    let after = PauseResult::updating(management, target, Some(Pause::End), None).await;
    let after = after.map_err(told)?;
    wake(management, &[queue.as_str()]).await?;
    let resumed = after.was_paused;
    let verb = if resumed {
        "is resumed"
    } else {
        "was not paused"
    };
    let mut text = format!("{target} {verb}. {}\n", after.load());
    let is_whole = matches!(part.held(), Held::Queue);
    if !is_whole && after.queue.is_paused {
        let _ = writeln!(
            text,
            "The whole queue is still paused. To end that: gatehouse queue resume --queue {queue}"
        );
    }
    for (count, one, many) in [
        (after.queue.paused_groups, "group", "groups"),
        (after.queue.paused_lanes, "lane", "lanes"),
    ] {
        if is_whole && count > 0 {
            let paused = counted(count, one, many);
            let _ = writeln!(
                text,
                "{paused} of the queue stay paused. To see them: gatehouse queue status --{many}"
            );
        }
    }
    let mut document = after.document;
    document["resumed"] = resumed.into();
    Ok(Report::new(text, document))
}

pub(super) async fn cap(management: &Arc<Management>, args: CapArgs) -> anyhow::Result<Report> {
    let (target, Cap(cap)) = (args.target, args.cap);
    if matches!(target.part.held(), Held::Queue) {
        anyhow::bail!("a cap applies to a group or a lane: give --group or --lane");
    }
    let after = PauseResult::updating(management, target, None, Some(cap)).await;
    let after = after.map_err(told)?;
    wake(management, &[target.queue.as_str()]).await?;
    let cap = match cap {
        Some(cap) => format!("runs at most {} at once", counted(cap, "job", "jobs")),
        None => "has the default cap of its queue".to_owned(),
    };
    let text = format!("{target} {cap}. {}\n", after.load());
    Ok(Report::new(text, after.document))
}

/// The jobs and the restrictions of the target.
struct PauseResult {
    now: DateTime<Utc>,
    was_paused: bool,
    queue: Restrictions,
    /// Of the group or the lane, or of the whole queue.
    paused_until: Option<DateTime<Utc>>,
    due: i64,
    running: i64,
    document: Value,
}

impl PauseResult {
    /// Changes the target.
    #[expect(clippy::option_option, reason = "absent and none are two things")]
    async fn updating(
        management: &Arc<Management>,
        target: Target,
        pause: Option<Pause>,
        cap: Option<Option<u32>>,
    ) -> Result<Self, Refused> {
        let caller = &Caller::command_line(management);
        let name = target.queue.as_str();
        let pause = || Ok(pause);
        Ok(match target.part.held() {
            Held::Queue => {
                let updated = queues::update_queue(caller, name, pause).await?;
                let (stats, restrictions) = (&updated.now.stats, &updated.now.restrictions);
                let document = status::queue_document(stats, restrictions);
                let until = restrictions.paused_until;
                let jobs = (stats.due, stats.running);
                Self::of(updated, until, jobs, document)
            }
            Held::Group(group) => {
                Self::of_section(queues::update_group(caller, name, group, pause, cap).await?)
            }
            Held::Lane(lane) => {
                Self::of_section(queues::update_lane(caller, name, lane, pause, cap).await?)
            }
        })
    }

    fn of_section<T>(updated: Updated<T>) -> Self
    where
        for<'a> Section<'a>: From<&'a T>,
    {
        let section = Section::from(&updated.now);
        let (until, jobs) = (section.paused_until, (section.due, section.running));
        let document = section.document();
        Self::of(updated, until, jobs, document)
    }

    fn of<T>(
        updated: Updated<T>,
        paused_until: Option<DateTime<Utc>>,
        (due, running): (i64, i64),
        document: Value,
    ) -> Self {
        Self {
            now: updated.at,
            was_paused: updated.was_paused,
            queue: updated.restrictions,
            paused_until,
            due,
            running,
            document,
        }
    }

    fn load(&self) -> String {
        format!(
            "{} due, {} running.",
            counted(self.due, "job is", "jobs are"),
            thousands(self.running)
        )
    }
}

/// What is held back.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Target {
    /// The queue
    #[arg(long, value_parser = queue_name())]
    queue: QueueName,
    #[command(flatten)]
    part: Part,
}

/// The part of the queue. Without one, it is the whole queue.
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
