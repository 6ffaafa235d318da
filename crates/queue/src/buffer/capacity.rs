//! The buffer's capacity: room for claims, which may bring jobs of anybody, and for a lane whose jobs this
//! process enqueues itself.

mod limits;
mod reserved;
mod share;

use super::{Buffer, CLAIMS};
use crate::{Group, Lane};

pub(crate) use self::limits::{Full, Limits};
pub(crate) use self::reserved::Reserved;

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

impl<T> Buffer<T> {
    /// Waits until there is enough room for a worthwhile claim, and takes it. Several claims can be
    /// under way at once.
    pub(crate) async fn room(&self) -> Room<'_, T> {
        self.room_for(part(self.capacity)).await
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

    fn take_room(&self, at_least: usize) -> Option<Room<'_, T>> {
        let mut contents = self.lock();
        let free = self
            .capacity
            .saturating_sub(contents.len + contents.incoming);
        let jobs = free.min(part(self.capacity));
        if jobs < at_least {
            return None;
        }
        let limits = contents.limits(self.capacity);
        contents.incoming += jobs;
        Some(Room {
            buffer: self,
            jobs,
            limits,
        })
    }
}

/// What one claim asks for: two claims together are as much as one group may have.
const fn part(capacity: usize) -> usize {
    capacity.div_ceil(2 * CLAIMS)
}
