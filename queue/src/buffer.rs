//! Jobs claimed and not yet started, handed out fairly: groups take turns, and within a group its lanes do. A newcomer's job
//! goes next, whatever was claimed before it.
//!
//! A group may have as much of the buffer as it leaves free, and so may a lane of what its group may have: whatever waits here
//! because its slots are taken, a newcomer's jobs find room.

mod room;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tokio::sync::Notify;

pub(crate) use room::{Aside, Full, Limits, Room};

use crate::{
    Group, Lane,
    slots::{Slot, Slots},
};

/// Claims under way at once.
const CLAIMS: usize = 2;

#[derive(Debug)]
pub(crate) struct Buffer<T> {
    /// Twice as many as one group may have, because it leaves as much free as it has.
    capacity: usize,
    slots: Arc<Slots>,
    contents: Mutex<Contents<T>>,
    /// The claims that wait for room.
    taken: Notify,
    /// The claim that waits for the room of groups and lanes that have none here.
    eased: Notify,
}

#[derive(Debug)]
struct Contents<T> {
    /// The groups that have jobs here, or places set aside for them.
    groups: HashMap<Group, OfGroup<T>>,
    /// Those that have jobs; the front one is next.
    turns: VecDeque<Group>,
    /// Jobs, and places set aside for a lane.
    len: usize,
    /// Places that claims under way may fill, with jobs of anybody.
    in_flight: usize,
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
    /// In the order of their claims.
    jobs: VecDeque<T>,
    aside: usize,
}

impl<T> Buffer<T> {
    /// For as many jobs of one group as `prefetch` says.
    pub(crate) fn new(prefetch: usize, slots: Arc<Slots>) -> Self {
        let contents = Contents {
            groups: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
            in_flight: 0,
            closed: false,
        };
        Self {
            capacity: prefetch.saturating_mul(2),
            slots,
            contents: Mutex::new(contents),
            taken: Notify::new(),
            eased: Notify::new(),
        }
    }

    /// Adds jobs; returns them when the buffer was closed.
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

    /// The next job that may start, with its slot, once there is one; none when the buffer was closed.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<(T, Slot)>> {
        // Registered first: a push between the look and the registration would be missed.
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

    /// Hands out nothing more, and returns what is left.
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
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Contents<T> {
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

    /// The next job whose group and lane have a slot free. Who has none keeps its place among those who have none either.
    fn take(&mut self, slots: &Arc<Slots>) -> Option<(T, Slot)> {
        let mut running = slots.lock();
        for _ in 0..self.turns.len() {
            let group = self.turns.pop_front()?;
            let room = slots.room(&running, group);
            let lane = self.groups.get_mut(&group).and_then(|of_group| {
                of_group.next(|lane| slots.has_room(&running, group, lane, room))
            });
            let Some(lane) = lane else {
                self.turns.push_back(group);
                continue;
            };
            let job = self.remove(group, lane);
            return job.map(|job| (job, slots.take(&mut running, group, lane)));
        }
        None
    }

    /// Takes a lane's job out, whose group and lane have given up their turns for it.
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
        let is_empty = |lane: &OfLane<T>| lane.jobs.is_empty() && lane.aside == 0;
        if of_group.lanes.get(&lane).is_some_and(is_empty) {
            of_group.lanes.remove(&lane);
        }
        if of_group.lanes.is_empty() {
            self.groups.remove(&group);
        }
    }
}

impl<T> OfGroup<T> {
    /// The next lane that may have a job started; its turn is over.
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
            aside: 0,
        }
    }
}

impl<T> OfLane<T> {
    fn len(&self) -> usize {
        self.jobs.len() + self.aside
    }
}

#[cfg(test)]
mod tests;
