//! What is in the buffer: jobs by group and lane, and whose turn is next.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use crate::{
    Group, Lane,
    slots::{Slot, Slots},
};

#[derive(Debug)]
pub(super) struct Contents<T> {
    /// Twice the share of one group, because a group leaves as much free as it has.
    pub(super) capacity: usize,
    /// The groups that have jobs here, or places set aside for them.
    pub(super) groups: HashMap<Group, OfGroup<T>>,
    /// The groups that have jobs; the front one is next.
    pub(super) turns: VecDeque<Group>,
    /// Jobs, and places set aside for a lane.
    pub(super) len: usize,
    /// Places reserved for claims under way. Their jobs may be anybody's.
    pub(super) incoming: usize,
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct OfGroup<T> {
    pub(super) lanes: HashMap<Lane, OfLane<T>>,
    /// The lanes that have jobs; the front one is next.
    pub(super) turns: VecDeque<Lane>,
    pub(super) len: usize,
}

#[derive(Debug)]
pub(super) struct OfLane<T> {
    /// In the order in which they were claimed.
    pub(super) jobs: VecDeque<T>,
    pub(super) reserved: usize,
}

impl<T> Contents<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            groups: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
            incoming: 0,
            closed: false,
        }
    }

    /// The lane's part of the buffer.
    pub(super) fn lane(&mut self, group: Group, lane: Lane) -> &mut OfLane<T> {
        let group = self.groups.entry(group).or_default();
        group.lanes.entry(lane).or_default()
    }

    pub(super) fn push(&mut self, group: Group, lane: Lane, job: T) {
        self.len += 1;
        let of_group = self.groups.entry(group).or_default();
        of_group.len += 1;
        let of_lane = of_group.lanes.entry(lane).or_default();
        of_lane.jobs.push_back(job);
        if of_lane.jobs.len() > 1 {
            return;
        }
        if of_group.turns.is_empty() {
            self.turns.push_back(group);
        }
        of_group.turns.push_back(lane);
    }

    /// The next job whose group and lane have a free slot. Groups and lanes without a slot keep
    /// their order.
    pub(super) fn take(&mut self, slots: &Arc<Slots>) -> Option<(T, Slot)> {
        let mut running = slots.lock();
        for _ in 0..self.turns.len() {
            let group = self.turns.pop_front()?;
            let room = running.room(group);
            let may_start = |lane| running.has_room(group, lane, room);
            let of_group = self.groups.get_mut(&group);
            let Some(lane) = of_group.and_then(|of_group| of_group.next(may_start)) else {
                self.turns.push_back(group);
                continue;
            };
            let job = self.remove(group, lane);
            return job.map(|job| (job, slots.take(&mut running, group, lane)));
        }
        None
    }

    /// Takes out a lane's job. Its group and lane have already given up their turns.
    fn remove(&mut self, group: Group, lane: Lane) -> Option<T> {
        let of_group = self.groups.get_mut(&group)?;
        let of_lane = of_group.lanes.get_mut(&lane)?;
        let job = of_lane.jobs.pop_front();
        if !of_lane.jobs.is_empty() {
            of_group.turns.push_back(lane);
        }
        if !of_group.turns.is_empty() {
            self.turns.push_back(group);
        }
        of_group.len -= 1;
        self.len -= 1;
        self.forget(group, lane);
        job
    }

    /// Forgets groups and lanes that hold nothing here.
    pub(super) fn forget(&mut self, group: Group, lane: Lane) {
        let Some(of_group) = self.groups.get_mut(&group) else {
            return;
        };
        let is_empty = |lane: &OfLane<T>| lane.jobs.is_empty() && lane.reserved == 0;
        if of_group.lanes.get(&lane).is_some_and(is_empty) {
            of_group.lanes.remove(&lane);
        }
        if of_group.lanes.is_empty() {
            self.groups.remove(&group);
        }
    }
}

impl<T> OfGroup<T> {
    /// The next lane that may start a job. Its turn is then over.
    fn next(&mut self, may_start: impl Fn(Lane) -> bool) -> Option<Lane> {
        for _ in 0..self.turns.len() {
            let lane = self.turns.pop_front()?;
            if may_start(lane) {
                return Some(lane);
            }
            self.turns.push_back(lane);
        }
        None
    }
}

impl<T> Default for OfGroup<T> {
    fn default() -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
        }
    }
}

impl<T> Default for OfLane<T> {
    fn default() -> Self {
        Self {
            jobs: VecDeque::new(),
            reserved: 0,
        }
    }
}

impl<T> OfLane<T> {
    pub(super) fn len(&self) -> usize {
        self.jobs.len() + self.reserved
    }
}
