//! The buffer's capacity: room for claims, which may bring jobs of anybody, and for a lane whose jobs this
//! process enqueues itself.

use std::sync::Arc;

use super::{Buffer, CLAIMS, Contents, OfLane};
use crate::{Group, Lane};

/// How many groups, and how many lanes, a claim gets listed with their room.
const LISTED: usize = 64;

/// Room for the jobs of a claim. Dropping it gives the room back.
#[derive(Debug)]
pub(crate) struct Room<'a, T> {
    buffer: &'a Buffer<T>,
    jobs: usize,
    limits: Limits,
}

impl<T> Room<'_, T> {
    /// The number of jobs.
    pub(crate) const fn jobs(&self) -> usize {
        self.jobs
    }

    /// The room of each group and lane.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds the claimed jobs and wakes the worker. Returns the jobs if the buffer was closed in the
    /// meantime.
    #[must_use]
    pub(crate) fn fill(self, jobs: Vec<(Group, Lane, T)>) -> Vec<(Group, Lane, T)> {
        let left = self.buffer.push(jobs.into_iter());
        left.map(Iterator::collect).unwrap_or_default()
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.buffer.lock().incoming -= self.jobs;
        self.buffer.notify();
    }
}

/// How many jobs of each group and lane a claim may bring. Its size is bounded, whatever is in the
/// buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For a group that is not listed.
    pub(crate) group: usize,
    /// For each of these groups.
    pub(crate) groups: Vec<(Group, usize)>,
    /// How much a lane that is not listed may already have here.
    pub(crate) lane_has: usize,
    /// For each of these lanes.
    pub(crate) lanes: Vec<(Lane, usize)>,
    /// How much of it other claims may bring in the meantime.
    pub(crate) incoming: usize,
    /// Groups and lanes without any room.
    pub(crate) full: Full,
}

/// Groups and lanes that a claim had to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Full {
    groups: Vec<Group>,
    lanes: Vec<(Group, Lane)>,
}

impl Full {
    /// Only one group.
    pub(crate) fn group(group: Group) -> Self {
        Self {
            groups: vec![group],
            lanes: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.lanes.is_empty()
    }
}

impl Limits {
    /// How many jobs of this group.
    pub(crate) fn of(&self, group: Group) -> usize {
        let listed = self.groups.iter().find(|(listed, _)| *listed == group);
        listed.map_or(self.group, |(_, room)| *room)
    }

    /// Whether any group with jobs here has room for more, or no group has jobs here.
    pub(crate) fn has_room(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|(_, room)| *room > 0)
    }
}

/// Places reserved for jobs of one lane, which this process is about to claim. Dropping it gives
/// them back.
#[derive(Debug)]
pub(crate) struct Reserved<T> {
    buffer: Arc<Buffer<T>>,
    group: Group,
    lane: Lane,
    jobs: usize,
}

impl<T> Reserved<T> {
    /// The number of jobs.
    pub(crate) const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Adds the jobs, and wakes the worker. Returns the jobs if the buffer was closed in the
    /// meantime.
    #[must_use]
    pub(crate) fn fill(self, jobs: Vec<T>) -> Vec<T> {
        let (group, lane) = (self.group, self.lane);
        let left = self
            .buffer
            .push(jobs.into_iter().map(|job| (group, lane, job)));
        left.map(|left| left.map(|(_, _, job)| job).collect())
            .unwrap_or_default()
    }
}

impl<T> Drop for Reserved<T> {
    fn drop(&mut self) {
        let mut contents = self.buffer.lock();
        // A closed buffer has forgotten everything.
        if !contents.closed {
            contents.len -= self.jobs;
            contents.lane(self.group, self.lane).reserved -= self.jobs;
            if let Some(group) = contents.groups.get_mut(&self.group) {
                group.len -= self.jobs;
            }
            contents.forget(self.group, self.lane);
        }
        drop(contents);
        self.buffer.notify();
    }
}

impl<T> Buffer<T> {
    /// Waits until there is enough room for a worthwhile claim, and takes it. Several claims can be
    /// under way at once.
    pub(crate) async fn room(&self) -> Room<'_, T> {
        let part = self.lock().part();
        self.room_for(part).await
    }

    /// Waits until there is any room for a claim, because a new group may have come.
    pub(crate) async fn some_room(&self) -> Room<'_, T> {
        self.room_for(1).await
    }

    async fn room_for(&self, at_least: usize) -> Room<'_, T> {
        loop {
            if let Some(room) = self.take_room(at_least) {
                return room;
            }
            self.taken.notified().await;
        }
    }

    /// Waits until one of these groups and lanes has room again.
    pub(crate) async fn eased(&self, full: &Full) {
        loop {
            if full.is_empty() {
                return std::future::pending().await;
            }
            if self.lock().has_eased(full) {
                return;
            }
            self.eased.notified().await;
        }
    }

    /// Whether a group has room for a claim of its own.
    pub(crate) fn has_room(&self, group: Group) -> bool {
        self.lock().told_group(group) > 0
    }

    /// Reserves places for jobs of a lane that this process enqueues itself: as many as wanted, or
    /// fewer. If the buffer is half full, it reserves none. Then the backlog is left to
    /// claims, which see everybody's jobs.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        group: Group,
        lane: Lane,
        wanted: usize,
    ) -> Reserved<T> {
        let mut contents = self.lock();
        let half = (contents.capacity / 2).saturating_sub(contents.len + contents.incoming);
        let room = contents
            .room_of_group(group)
            .min(contents.room_of_lane(group, lane));
        let jobs = if contents.closed {
            0
        } else {
            wanted.min(half).min(room)
        };
        if jobs > 0 {
            contents.len += jobs;
            contents.lane(group, lane).reserved += jobs;
            if let Some(of_group) = contents.groups.get_mut(&group) {
                of_group.len += jobs;
            }
        }
        drop(contents);
        Reserved {
            buffer: self.clone(),
            group,
            lane,
            jobs,
        }
    }

    fn take_room(&self, at_least: usize) -> Option<Room<'_, T>> {
        let mut contents = self.lock();
        let free = contents
            .capacity
            .saturating_sub(contents.len + contents.incoming);
        let jobs = free.min(contents.part());
        if jobs < at_least {
            return None;
        }
        let limits = contents.limits();
        contents.incoming += jobs;
        Some(Room {
            buffer: self,
            jobs,
            limits,
        })
    }
}

/// Room is counted so that it suffices whatever the claims under way bring.
impl<T> Contents<T> {
    /// What one claim asks for: two claims together are as much as one group may have.
    fn part(&self) -> usize {
        self.capacity.div_ceil(2 * CLAIMS)
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits {
            incoming: self.incoming,
            ..Limits::default()
        };
        let mut groups: Vec<_> = self.groups.iter().collect();
        let unlisted = largest(&mut groups, |(_, group)| group.len);
        for &(&group, _) in &groups {
            let room = self.told_group(group);
            if room == 0 {
                limits.full.groups.push(group);
            }
            limits.groups.push((group, room));
        }
        let left = self.capacity.saturating_sub(self.len + unlisted);
        limits.group = left.div_ceil(2).saturating_sub(self.incoming).max(1);

        let mut lanes: Vec<_> = self
            .groups
            .iter()
            .flat_map(|(&group, of_group)| {
                let shared = of_group
                    .lanes
                    .iter()
                    .filter(move |(lane, _)| lane.0 != group.0);
                shared.map(move |(&lane, of_lane)| (group, lane, of_lane.len()))
            })
            .collect();
        limits.lane_has = largest(&mut lanes, |(_, _, len)| *len);
        for &(group, lane, _) in &lanes {
            let room = self.told_lane(group, lane);
            if room == 0 {
                limits.full.lanes.push((group, lane));
            }
            limits.lanes.push((lane, room));
        }
        limits
    }

    fn has_eased(&self, full: &Full) -> bool {
        let mut groups = full.groups.iter();
        let mut lanes = full.lanes.iter();
        groups.any(|&group| self.told_group(group) > 0)
            || lanes.any(|&(group, lane)| self.told_lane(group, lane) > 0)
    }

    /// The room of a group that a claim is told. It is 0 if the group has much here already and
    /// less room than a claim needs, so that claims bring many jobs at once.
    fn told_group(&self, group: Group) -> usize {
        self.worth_while(self.room_of_group(group), self.len_of_group(group))
    }

    fn told_lane(&self, group: Group, lane: Lane) -> usize {
        self.worth_while(
            self.room_of_lane(group, lane),
            self.len_of_lane(group, lane),
        )
    }

    fn worth_while(&self, room: usize, own: usize) -> usize {
        if room >= own * 2 || room >= self.part() {
            room
        } else {
            0
        }
    }

    /// How much a group may have: at most as much as remains free.
    fn share_of_group(&self, group: Group) -> usize {
        let others = self.len - self.len_of_group(group);
        self.capacity.saturating_sub(others).div_ceil(2)
    }

    pub(super) fn room_of_group(&self, group: Group) -> usize {
        self.share_of_group(group)
            .saturating_sub(self.len_of_group(group) + self.incoming)
    }

    /// The same for a lane, within its group's part.
    fn share_of_lane(&self, group: Group, lane: Lane) -> usize {
        let of_group = self.share_of_group(group);
        if group.0 == lane.0 {
            return of_group;
        }
        let others = self.len_of_group(group) - self.len_of_lane(group, lane);
        of_group.saturating_sub(others).div_ceil(2)
    }

    fn room_of_lane(&self, group: Group, lane: Lane) -> usize {
        self.share_of_lane(group, lane)
            .saturating_sub(self.len_of_lane(group, lane) + self.incoming)
    }

    fn len_of_group(&self, group: Group) -> usize {
        self.groups.get(&group).map_or(0, |group| group.len)
    }

    fn len_of_lane(&self, group: Group, lane: Lane) -> usize {
        let of_group = self.groups.get(&group);
        let of_lane = of_group.and_then(|of_group| of_group.lanes.get(&lane));
        of_lane.map_or(0, OfLane::len)
    }
}

/// Keeps the largest ones, and returns the size of the largest one that was dropped.
fn largest<E>(all: &mut Vec<E>, len: impl Fn(&E) -> usize) -> usize {
    if all.len() <= LISTED {
        return 0;
    }
    let (_, next, _) = all.select_nth_unstable_by_key(LISTED, |one| std::cmp::Reverse(len(one)));
    let next = len(next);
    all.truncate(LISTED);
    next
}
