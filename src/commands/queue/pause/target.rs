//! What a pause or a cap applies to: a queue, a group, a lane.

use std::fmt;

use queue::{Group, Lane, QueueName};

use crate::{
    commands::queue::{group, lane},
    config::queue_name,
};

/// What is held back.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Target {
    /// The queue
    #[arg(long, value_parser = queue_name())]
    pub(super) queue: QueueName,
    #[command(flatten)]
    pub(super) part: Part,
}

/// The part of the queue. Without one, it is the whole queue.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "part", multiple = false)]
pub(super) struct Part {
    /// A group: a team, with all its lanes
    #[arg(long, value_name = "UUID", value_parser = group)]
    group: Option<Group>,
    /// A lane: a team in analysis, rules, backtests and recoveries, an endpoint in webhooks
    #[arg(long, value_name = "UUID", value_parser = lane)]
    lane: Option<Lane>,
}

/// One part of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    Queue,
    Group(Group),
    Lane(Lane),
}

impl Part {
    pub(super) fn held(self) -> Held {
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
