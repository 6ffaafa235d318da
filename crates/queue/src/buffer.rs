//! Jobs that are claimed and not started, handed out fairly: groups take turns, and so do the lanes
//! of a group. The first job of a new group goes next, whatever was claimed before it.
//!
//! A group may have at most as much of the buffer as remains free, and a lane at most as much as
//! remains free of its group's part. So however many jobs wait here for slots, a new group's jobs
//! find room.

mod capacity;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

use tokio::sync::Notify;

pub(crate) use self::capacity::{Full, Limits, Reserved, Room};
use crate::{
    Bottleneck, Group, Lane,
    lock::lock,
    slots::{Slot, Slots},
};

/// Groups, and lanes of each, that are looked at to tell why the jobs here wait.
const LOOKED_AT: usize = 64;

/// Claims that may be under way at once.
const CLAIMS: usize = 2;

#[derive(Debug)]
pub(crate) struct Buffer<T> {
    slots: Arc<Slots>,
    contents: Mutex<Contents<T>>,
    /// Wakes claims that wait for room.
    taken: Notify,
    /// Wakes the claim that waits for groups and lanes without room.
    eased: Notify,
}

impl<T> Buffer<T> {
    /// `prefetch` is the number of jobs of one group.
    pub(crate) fn new(prefetch: usize, slots: Arc<Slots>) -> Self {
        Self {
            slots,
            contents: Mutex::new(Contents::new(prefetch.saturating_mul(2))),
            taken: Notify::new(),
            eased: Notify::new(),
        }
    }

    /// Adds jobs. Returns them if the buffer was closed.
    #[must_use]
    fn push<I: Iterator<Item = (Group, Lane, T)>>(&self, jobs: I) -> Option<I> {
        let mut contents = self.lock();
        if contents.closed {
            return Some(jobs);
        }
        for (group, lane, job) in jobs {
            contents.push(group, lane, job);
        }
        drop(contents);
        self.slots.taker.wake();
        None
    }

    /// Waits for the next job that may start, and returns it with its slot. `None` if the buffer
    /// was closed.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<(T, Slot)>> {
        // Register first: otherwise a push between the check and the registration would be missed.
        self.slots.taker.register(cx.waker());
        let mut contents = self.lock();
        if contents.closed {
            return Poll::Ready(None);
        }
        match contents.take(&self.slots) {
            Some(taken) => {
                drop(contents);
                self.notify();
                Poll::Ready(Some(taken))
            }
            None => Poll::Pending,
        }
    }

    /// Why the jobs here have not started. `None` if there are none, or one of them may start.
    pub(crate) fn bottleneck(&self) -> Option<Bottleneck> {
        let contents = self.lock();
        if contents.turns.is_empty() {
            return None;
        }
        let running = self.slots.lock();
        if running.is_full() {
            return Some(Bottleneck::Slots);
        }
        let may_start = |group: &Group| {
            let room = running.room(*group);
            let has_room = |lane: &Lane| running.has_room(*group, *lane, room);
            let of_group = contents.groups.get(group);
            of_group.is_some_and(|of_group| of_group.turns.iter().take(LOOKED_AT).any(has_room))
        };
        let any = contents.turns.iter().take(LOOKED_AT).any(may_start);
        (!any).then_some(Bottleneck::TeamShare)
    }

    /// Closes the buffer, and returns what is left.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut contents = self.lock();
        contents.closed = true;
        contents.turns.clear();
        let groups = std::mem::take(&mut contents.groups).into_values();
        let lanes = groups.flat_map(|group| group.lanes.into_values());
        let left = lanes.flat_map(|lane| lane.jobs).collect();
        drop(contents);
        self.slots.taker.wake();
        left
    }

    fn notify(&self) {
        self.taken.notify_one();
        self.eased.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Contents<T>> {
        lock(&self.contents)
    }
}

/// What is in the buffer: jobs by group and lane, and whose turn is next.
#[derive(Debug)]
struct Contents<T> {
    /// Twice the share of one group, because a group leaves as much free as it has.
    capacity: usize,
    /// The groups that have jobs here, or places set aside for them.
    groups: HashMap<Group, OfGroup<T>>,
    /// The groups that have jobs; the front one is next.
    turns: VecDeque<Group>,
    /// Jobs, and places set aside for a lane.
    len: usize,
    /// Places reserved for claims under way. Their jobs may be anybody's.
    incoming: usize,
    closed: bool,
}

#[derive(Debug)]
struct OfGroup<T> {
    lanes: HashMap<Lane, OfLane<T>>,
    /// The lanes that have jobs; the front one is next.
    turns: VecDeque<Lane>,
    len: usize,
}

#[derive(Debug)]
struct OfLane<T> {
    /// In the order in which they were claimed.
    jobs: VecDeque<T>,
    reserved: usize,
}

impl<T> Contents<T> {
    fn new(capacity: usize) -> Self {
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
    fn lane(&mut self, group: Group, lane: Lane) -> &mut OfLane<T> {
        let group = self.groups.entry(group).or_default();
        group.lanes.entry(lane).or_default()
    }

    fn push(&mut self, group: Group, lane: Lane, job: T) {
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
    fn take(&mut self, slots: &Arc<Slots>) -> Option<(T, Slot)> {
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
    fn forget(&mut self, group: Group, lane: Lane) {
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
    fn len(&self) -> usize {
        self.jobs.len() + self.reserved
    }
}

#[cfg(test)]
mod tests;
