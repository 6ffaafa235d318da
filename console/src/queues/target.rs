//! Which queue, group or lane a page is about.

use management::{
    Refused,
    queues::{Group, Lane, Pause, update_group, update_lane, update_queue},
};
use uuid::Uuid;

use crate::page::{PageError, PageRequest};

/// A queue, or a part of it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) queue: String,
    pub(super) part: Part,
}

pub(super) enum Change {
    Pause(Pause),
    /// None restores the default.
    Cap(Option<u32>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Whole,
    Group(Group),
    Lane(Lane),
}

impl Target {
    /// The place in the path. `Err`: the path has an id that is none.
    pub(super) fn of(request: &PageRequest) -> Result<Self, PageError> {
        let named = |name| request.part::<String>(name).is_ok();
        let part = if named("group") {
            Part::Group(Group(request.part::<Uuid>("group")?))
        } else if named("lane") {
            Part::Lane(Lane(request.part::<Uuid>("lane")?))
        } else {
            Part::Whole
        };
        Ok(Self {
            queue: request.part("queue")?,
            part,
        })
    }

    pub(super) fn path(&self) -> String {
        let queue = format!("/instance/queues/{}", self.queue);
        match self.part {
            Part::Whole => queue,
            Part::Group(group) => format!("{queue}/groups/{}", group.0),
            Part::Lane(lane) => format!("{queue}/lanes/{}", lane.0),
        }
    }

    /// What it is called in a sentence.
    pub(super) fn noun(&self) -> &'static str {
        match self.part {
            Part::Whole => "queue",
            Part::Group(_) => "group",
            Part::Lane(_) => "lane",
        }
    }

    pub(super) fn has_cap(&self) -> bool {
        !matches!(self.part, Part::Whole)
    }

    /// Changes its pause or its cap.
    pub(super) async fn change(
        &self,
        request: &PageRequest,
        change: Change,
    ) -> Result<(), Refused> {
        let (pause, cap) = match change {
            Change::Pause(pause) => (Some(pause), None),
            Change::Cap(cap) => (None, Some(cap)),
        };
        let caller = request.caller()?;
        let (queue, pause) = (&self.queue, || Ok(pause));
        match self.part {
            Part::Whole => update_queue(&caller, queue, pause).await.map(drop),
            Part::Group(group) => update_group(&caller, queue, group, pause, cap)
                .await
                .map(drop),
            Part::Lane(lane) => update_lane(&caller, queue, lane, pause, cap)
                .await
                .map(drop),
        }
    }
}
