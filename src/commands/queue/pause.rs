//! `gatehouse queue pause`, `resume` and `cap`: pauses and caps for a queue, or for one of its
//! groups or lanes.

mod result;
mod target;

use std::{fmt::Write as _, time::Duration};

use management::{Management, queues::Pause};
use queue::QueueName;

use super::{Report, table::counted, until, wake};
use crate::{command_line::told, config::queue_name, duration};
use result::PauseResult;
use target::{Held, Part, Target};

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

pub(super) async fn pause(management: &Management, args: PauseArgs) -> anyhow::Result<Report> {
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

pub(super) async fn resume(management: &Management, args: ResumeArgs) -> anyhow::Result<Report> {
    let Target { queue, part } = args.target;
    let after = PauseResult::updating(management, args.target, Some(Pause::End), None).await;
    let after = after.map_err(told)?;
    wake(management, &[queue.as_str()]).await?;
    let resumed = after.was_paused;
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

pub(super) async fn cap(management: &Management, args: CapArgs) -> anyhow::Result<Report> {
    let target = Target {
        queue: args.queue,
        part: args.part,
    };
    if matches!(args.part.held(), Held::Queue) {
        anyhow::bail!("a cap applies to a group or a lane: give --group or --lane");
    }
    let after = PauseResult::updating(management, target, None, Some(args.cap.0)).await;
    let after = after.map_err(told)?;
    wake(management, &[args.queue.as_str()]).await?;
    let cap = match args.cap.0 {
        Some(cap) => format!("runs at most {} at once", counted(cap, "job", "jobs")),
        None => "has the default cap of its queue".to_owned(),
    };
    let text = format!("{target} {cap}. {}\n", after.load());
    Ok(Report::new(text, after.document))
}
