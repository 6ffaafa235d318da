//! Pauses and caps of a queue, a group or a lane: set and end.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{audit::Action, id::TeamId, scope::Scope};
use queue::{
    Group, Lane, QueueName,
    groups::{self, GroupStats},
    lanes::{self, LaneStats},
    pauses_and_caps::{self, Part, PauseAndCap},
    queues::Restrictions,
};
use serde::Serialize;
use serde_json::{Value, json};
use store::{Error, PgConnection, team};
use uuid::Uuid;

use super::{QueueState, all, known};
use crate::{Caller, Management, Noun, Refused, Session, difference};

/// What happens to a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It begins, and lasts until somebody ends it.
    UntilResumed,
    /// It begins, and lasts this long. A pause that already lasts longer stays.
    For(Duration),
    /// It begins, and lasts until this time of the database's clock. A pause that already lasts
    /// longer stays.
    Until(DateTime<Utc>),
    /// It ends.
    End,
}

/// A part of a queue after a change.
#[derive(Clone, Debug)]
pub struct Updated<T> {
    /// When the change was made, by the database's clock.
    pub at: DateTime<Utc>,
    /// Whether the part was paused before.
    pub was_paused: bool,
    /// What holds the queue back now, as a whole or in single groups and lanes.
    pub restrictions: Restrictions,
    /// The part now.
    pub now: T,
}

/// Pauses a whole queue, or ends its pause. Pauses of its groups and lanes stay. `None` changes
/// nothing.
///
/// # Errors
/// The caller may not do it; there is no such queue; the end of the pause is in the past.
pub async fn update_queue(
    caller: &Caller,
    name: &str,
    pause: impl FnOnce() -> Result<Option<Pause>, Refused>,
) -> Result<Updated<QueueState>, Refused> {
    let mut work = Work::begin(caller, name, Part::Whole).await?;
    work.apply(pause()?, None).await?;
    let done = work.finish(&caller.management).await?;
    let mut tx = caller.management.begin().await?;
    let mut now = all(&mut tx).await?.into_iter();
    let now = now.find(|queue| queue.stats.queue == name);
    let now = now.ok_or(Refused::NotFound(Noun::Queue))?;
    done.told(&mut tx, now).await
}

/// Pauses a group of a queue with all its lanes, ends its pause, or sets how many of its jobs may
/// run at once (`Some(None)`: the queue's default). `None` changes nothing.
///
/// # Errors
/// The caller may not do it; there is no such queue; the end of the pause is in the past.
pub async fn update_group(
    caller: &Caller,
    name: &str,
    group: Group,
    pause: impl FnOnce() -> Result<Option<Pause>, Refused>,
    cap: Option<Option<u32>>,
) -> Result<Updated<GroupStats>, Refused> {
    let mut work = Work::begin(caller, name, Part::Group(group)).await?;
    work.apply(pause()?, cap).await?;
    let done = work.finish(&caller.management).await?;
    let mut tx = caller.management.begin().await?;
    let now = groups::read(&mut tx, done.queue, group).await;
    let now = now.map_err(Error::from)?;
    done.told(&mut tx, now).await
}

/// Pauses a lane of a queue, ends its pause, or sets how many of its jobs may run at once
/// (`Some(None)`: the queue's default). `None` changes nothing.
///
/// # Errors
/// The caller may not do it; there is no such queue; the end of the pause is in the past.
pub async fn update_lane(
    caller: &Caller,
    name: &str,
    lane: Lane,
    pause: impl FnOnce() -> Result<Option<Pause>, Refused>,
    cap: Option<Option<u32>>,
) -> Result<Updated<LaneStats>, Refused> {
    let mut work = Work::begin(caller, name, Part::Lane(lane)).await?;
    work.apply(pause()?, cap).await?;
    let done = work.finish(&caller.management).await?;
    let mut tx = caller.management.begin().await?;
    let now = lanes::read(&mut tx, done.queue, lane).await;
    let now = now.map_err(Error::from)?;
    done.told(&mut tx, now).await
}

/// A change that was committed, if it changed anything.
///
/// Jobs are counted after the commit: a claim that meets a locked group or lane waits for its lock,
/// and counting can take up to a second.
struct Done {
    at: DateTime<Utc>,
    queue: QueueName,
    was_paused: bool,
}

impl Done {
    async fn told<T>(self, conn: &mut PgConnection, now: T) -> Result<Updated<T>, Refused> {
        let all = queue::queues::restrictions(conn).await;
        let mut all = all.map_err(Error::from)?.into_iter();
        let restrictions = all.find(|found| found.queue == self.queue.as_str());
        Ok(Updated {
            at: self.at,
            was_paused: self.was_paused,
            restrictions: restrictions.unwrap_or_default(),
            now,
        })
    }
}

/// The change of one part, in one transaction.
struct Work {
    session: Session,
    at: DateTime<Utc>,
    queue: QueueName,
    part: Part,
    before: PauseAndCap,
}

impl Work {
    async fn begin(caller: &Caller, name: &str, part: Part) -> Result<Self, Refused> {
        let mut session = caller.change(Scope::QueuesWrite).await?;
        session.require_operator()?;
        let queue = known(name)?;
        let conn = session.conn();
        let at = queue::now(conn).await.map_err(Error::from)?;
        let before = pauses_and_caps::lock(conn, queue, part).await;
        Ok(Self {
            before: before.map_err(Error::from)?,
            session,
            at,
            queue,
            part,
        })
    }

    #[expect(clippy::option_option, reason = "no change and no cap are two things")]
    async fn apply(
        &mut self,
        pause: Option<Pause>,
        cap: Option<Option<u32>>,
    ) -> Result<(), Refused> {
        let (conn, queue, part) = (self.session.conn(), self.queue, self.part);
        let until = match pause {
            None => None,
            Some(Pause::UntilResumed) => Some(None),
            // A time that no calendar knows is never.
            Some(Pause::For(duration)) => Some(after(self.at, duration)),
            Some(Pause::Until(until)) if until <= self.at => {
                return Err(Refused::field("paused_until", "must be in the future"));
            }
            Some(Pause::Until(until)) => Some(Some(until)),
            Some(Pause::End) => {
                let resumed = pauses_and_caps::resume(conn, queue, part).await;
                resumed.map_err(Error::from)?;
                None
            }
        };
        if let Some(until) = until {
            let paused = pauses_and_caps::pause(conn, queue, part, until).await;
            paused.map_err(Error::from)?;
        }
        if let Some(cap) = cap {
            let capped = match part {
                // A whole queue has no cap: its processes have slots.
                Part::Whole => Ok(()),
                Part::Group(group) => groups::set_cap(conn, queue, group, cap).await,
                Part::Lane(lane) => lanes::set_cap(conn, queue, lane, cap).await,
            };
            capped.map_err(Error::from)?;
        }
        Ok(())
    }

    /// Records what changed, if anything did, and wakes the workers for what may run now.
    async fn finish(mut self, management: &Management) -> Result<Done, Refused> {
        let conn = self.session.conn();
        let after = pauses_and_caps::lock(conn, self.queue, self.part).await;
        let after = after.map_err(Error::from)?;
        let finished = Done {
            at: self.at,
            queue: self.queue,
            was_paused: self.before.is_paused,
        };
        let Some(mut details) = difference(&Recorded::from(self.before), &Recorded::from(after))
        else {
            return Ok(finished);
        };
        details["queue"] = self.queue.as_str().into();
        let queue = self.queue;
        match self.part {
            Part::Whole => {
                let action = Action::QueueUpdate;
                let done = self.session.commit_without_target(action, None, &details);
                done.await?;
            }
            Part::Group(Group(id)) => self.record("group_id", id, details).await?,
            Part::Lane(Lane(id)) => self.record("lane_id", id, details).await?,
        }
        management.queue.wake([queue]);
        Ok(finished)
    }

    /// A part that belongs to a team is its business: the team sees the entry in its audit log.
    async fn record(mut self, member: &str, id: Uuid, mut details: Value) -> Result<(), Refused> {
        details[member] = json!(id);
        let team: Option<TeamId> = team::of_group_or_lane(self.session.conn(), id).await?;
        crate::record(self.session, Action::QueueUpdate, team, id, details).await
    }
}

fn after(time: DateTime<Utc>, duration: Duration) -> Option<DateTime<Utc>> {
    time.checked_add_signed(TimeDelta::from_std(duration).ok()?)
}

/// What holds a part back, as the audit log shows it.
#[derive(Serialize)]
struct Recorded {
    paused: bool,
    paused_until: Option<String>,
    cap: Option<i32>,
}

impl From<PauseAndCap> for Recorded {
    fn from(exception: PauseAndCap) -> Self {
        Self {
            paused: exception.is_paused,
            paused_until: exception.paused_until.map(domain::event::timestamp),
            cap: exception.cap,
        }
    }
}
