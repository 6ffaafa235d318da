//! Room in the buffer: for claims, which may bring jobs of anybody, and for a lane whose jobs this process makes itself.

use std::sync::Arc;

use super::{Buffer, CLAIMS, Contents, OfGroup, OfLane};
use crate::{Group, Lane};

/// The most groups, and lanes, whose room a claim is told one by one.
const LISTED: usize = 64;

/// Room for jobs that a claim may bring; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Room<'a, T> {
    buffer: &'a Buffer<T>,
    jobs: usize,
    limits: Limits,
}

/// How many jobs of each group and lane a claim may bring. With a bounded number of words, whatever is in the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Of a group that is not listed.
    pub(crate) group: usize,
    /// Of each of these.
    pub(crate) groups: Vec<(Group, usize)>,
    /// What a lane that is not listed may have here already.
    pub(crate) lane_has: usize,
    /// Of each of these.
    pub(crate) lanes: Vec<(Lane, usize)>,
    /// What other claims may bring of it meanwhile.
    pub(crate) in_flight: usize,
    /// Who has no room at all.
    full: Full,
}

/// Groups and lanes that a claim had to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Full {
    groups: Vec<Group>,
    lanes: Vec<(Group, Lane)>,
}

impl Full {
    /// One group.
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
    /// Who has no room at all.
    pub(crate) const fn full(&self) -> &Full {
        &self.full
    }

    /// How many jobs of a group.
    pub(crate) fn of(&self, group: Group) -> usize {
        let listed = self.groups.iter().find(|(listed, _)| *listed == group);
        listed.map_or(self.group, |(_, room)| *room)
    }

    /// Whether anybody who has jobs here has room for more, or nobody has any.
    pub(crate) fn has_room(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|(_, room)| *room > 0)
    }
}

impl<T> Room<'_, T> {
    /// For how many jobs.
    pub(crate) const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whose.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds the jobs that came and wakes the worker. Returns them when the buffer was closed meanwhile.
    #[must_use]
    pub(crate) fn fill(self, jobs: Vec<(Group, Lane, T)>) -> Vec<(Group, Lane, T)> {
        let left = self.buffer.push(jobs.into_iter());
        left.map(Iterator::collect).unwrap_or_default()
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.buffer.lock().in_flight -= self.jobs;
        self.buffer.notify();
    }
}

/// Places set aside for jobs of one lane, which this process will have claimed; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Aside<T> {
    buffer: Arc<Buffer<T>>,
    group: Group,
    lane: Lane,
    jobs: usize,
}

impl<T> Aside<T> {
    /// For how many jobs.
    pub(crate) const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Adds the jobs, and wakes the worker. Returns them when the buffer was closed meanwhile.
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

impl<T> Drop for Aside<T> {
    fn drop(&mut self) {
        let mut contents = self.buffer.lock();
        // A closed buffer has forgotten everything.
        if !contents.closed {
            contents.len -= self.jobs;
            contents.lane(self.group, self.lane).aside -= self.jobs;
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
    /// Waits until there is room for a claim that is worth its while, and takes it. Several claims can be under way at once.
    pub(crate) async fn room(&self) -> Room<'_, T> {
        self.room_for(part(self.capacity)).await
    }

    /// Waits until there is any room for a claim, because somebody new may have come.
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

    /// Waits until one of those has room again.
    pub(crate) async fn eased(&self, full: &Full) {
        loop {
            if full.is_empty() {
                return std::future::pending().await;
            }
            if self.lock().has_eased(full, self.capacity) {
                return;
            }
            self.eased.notified().await;
        }
    }

    /// Whether a group has room for a claim of its own.
    pub(crate) fn has_room(&self, group: Group) -> bool {
        let contents = self.lock();
        contents.told_group(group, self.capacity) > 0
    }

    /// Sets places aside for jobs of a lane which this process makes itself; as many as are wanted, or fewer. None at all while
    /// the buffer is half full, so that a backlog is left to claims, which see everybody's jobs.
    pub(crate) fn set_aside(self: &Arc<Self>, group: Group, lane: Lane, wanted: usize) -> Aside<T> {
        let mut contents = self.lock();
        let half = (self.capacity / 2).saturating_sub(contents.len + contents.in_flight);
        let room = contents
            .room_of_group(group, self.capacity)
            .min(contents.room_of_lane(group, lane, self.capacity));
        let jobs = if contents.closed {
            0
        } else {
            wanted.min(half).min(room)
        };
        if jobs > 0 {
            contents.len += jobs;
            contents.lane(group, lane).aside += jobs;
            if let Some(of_group) = contents.groups.get_mut(&group) {
                of_group.len += jobs;
            }
        }
        drop(contents);
        Aside {
            buffer: self.clone(),
            group,
            lane,
            jobs,
        }
    }

    fn take_room(&self, at_least: usize) -> Option<Room<'_, T>> {
        let mut contents = self.lock();
        let free = self
            .capacity
            .saturating_sub(contents.len + contents.in_flight);
        let jobs = free.min(part(self.capacity));
        if jobs < at_least {
            return None;
        }
        let limits = contents.limits(self.capacity);
        contents.in_flight += jobs;
        Some(Room {
            buffer: self,
            jobs,
            limits,
        })
    }
}

/// Room is counted so that it holds whatever the claims under way bring.
impl<T> Contents<T> {
    fn limits(&self, capacity: usize) -> Limits {
        let mut limits = Limits {
            in_flight: self.in_flight,
            ..Limits::default()
        };
        let mut groups: Vec<_> = self.groups.iter().collect();
        let unlisted = largest(&mut groups, |(_, group)| group.len);
        for &(&group, _) in &groups {
            let room = self.told_group(group, capacity);
            if room == 0 {
                limits.full.groups.push(group);
            }
            limits.groups.push((group, room));
        }
        let left = capacity.saturating_sub(self.len + unlisted).div_ceil(2);
        limits.group = left.saturating_sub(self.in_flight).max(1);

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
            let room = self.told_lane(group, lane, capacity);
            if room == 0 {
                limits.full.lanes.push((group, lane));
            }
            limits.lanes.push((lane, room));
        }
        limits
    }

    fn has_eased(&self, full: &Full, capacity: usize) -> bool {
        let mut groups = full.groups.iter();
        let mut lanes = full.lanes.iter();
        groups.any(|&group| self.told_group(group, capacity) > 0)
            || lanes.any(|&(group, lane)| self.told_lane(group, lane, capacity) > 0)
    }

    /// What a claim is told of a group: nothing while there is less room than for a claim and it has much here already, so that
    /// claims bring many jobs at once.
    fn told_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        worth_while(self.room_of_group(group, capacity), own, capacity)
    }

    fn told_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let (_, own) = self.len_of(group, lane);
        worth_while(self.room_of_lane(group, lane, capacity), own, capacity)
    }

    /// How much a group may have: as much as it leaves free.
    fn share_of_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        capacity.saturating_sub(self.len - own).div_ceil(2)
    }

    pub(super) fn room_of_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        self.share_of_group(group, capacity)
            .saturating_sub(own + self.in_flight)
    }

    /// The same of a lane, in what its group may have.
    fn share_of_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let of_group = self.share_of_group(group, capacity);
        if group.0 == lane.0 {
            return of_group;
        }
        let (group, lane) = self.len_of(group, lane);
        of_group.saturating_sub(group - lane).div_ceil(2)
    }

    fn room_of_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let (_, own) = self.len_of(group, lane);
        self.share_of_lane(group, lane, capacity)
            .saturating_sub(own + self.in_flight)
    }

    /// What a group has here, and how much of it is a lane's.
    pub(super) fn len_of(&self, group: Group, lane: Lane) -> (usize, usize) {
        let Some(of_group) = self.groups.get(&group) else {
            return (0, 0);
        };
        let OfGroup { lanes, len, .. } = of_group;
        (*len, lanes.get(&lane).map_or(0, OfLane::len))
    }
}

const fn worth_while(room: usize, own: usize, capacity: usize) -> usize {
    if room >= own * 2 || room >= part(capacity) {
        room
    } else {
        0
    }
}

/// What a claim asks for: two of them are as much as one group may have.
const fn part(capacity: usize) -> usize {
    capacity.div_ceil(2 * CLAIMS)
}

/// Keeps those that have the most, and returns what any other has at most.
fn largest<E>(all: &mut Vec<E>, len: impl Fn(&E) -> usize) -> usize {
    if all.len() <= LISTED {
        return 0;
    }
    let (_, next, _) = all.select_nth_unstable_by_key(LISTED, |one| std::cmp::Reverse(len(one)));
    let next = len(next);
    all.truncate(LISTED);
    next
}
