//! Jobs that are claimed and not started, handed out fairly: groups take turns, and so do the lanes
//! of a group. The first job of a new group goes next, whatever was claimed before it.
//!
//! A group may have at most as much of the buffer as remains free, and a lane at most as much as
//! remains free of its group's part. So however many jobs wait here for slots, a new group's jobs
//! find room.

mod capacity;
mod contents;

use std::{
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

use tokio::sync::Notify;

pub(crate) use self::capacity::{Full, Limits, Reserved, Room};
use self::contents::Contents;
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

#[cfg(test)]
mod tests;
