//! Places in the buffer that are reserved for a lane whose jobs this process enqueues itself.

use std::sync::Arc;

use crate::{Group, Lane, buffer::Buffer};

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
        let half = (self.capacity / 2).saturating_sub(contents.len + contents.incoming);
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
}
