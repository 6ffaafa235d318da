//! Jobs claimed and not yet started, handed out fairly: groups take turns, and within a group its lanes do. A newcomer's job
//! goes next, whatever was claimed before it.
//!
//! A group may have as much of the buffer as it leaves free, and so may a lane of what its group may have: whatever waits here
//! because its slots are taken, a newcomer's jobs find room.

mod contents;
mod room;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tokio::sync::Notify;

use self::contents::Contents;
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

#[cfg(test)]
mod tests;
