//! The slots of a worker, divided among the groups and lanes whose jobs run in them.
//!
//! A group may have at most as many slots as remain free: one greedy group gets a half, two get a
//! third each, and a new group always finds a slot. Within a group's part, the same rule applies to
//! its lanes. So jobs that take long, because some receiver is slow, delay nobody else, and one
//! slow receiver does not delay its owner's other ones.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use futures::task::AtomicWaker;

use crate::{Group, Lane, lock::lock};

/// The slots of one worker.
#[derive(Debug)]
pub(crate) struct Slots {
    running: Mutex<Running>,
    /// Wakes the worker that waits for a job that may run.
    pub(crate) taker: AtomicWaker,
}

/// The running jobs.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// The number of slots. `None` if the worker did not say; then nothing is counted.
    count: Option<usize>,
    total: usize,
    /// The groups that have jobs running.
    groups: HashMap<Group, OfGroup>,
}

#[derive(Debug, Default)]
struct OfGroup {
    total: usize,
    /// The lanes that have running jobs. If a group is its own only lane, nothing is stored here.
    lanes: HashMap<Lane, usize>,
}

/// A slot in which a job runs. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct Slot {
    of: Arc<Slots>,
    group: Group,
    lane: Lane,
}

impl Slots {
    pub(crate) fn new(count: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            running: Mutex::new(Running {
                count,
                ..Running::default()
            }),
            taker: AtomicWaker::new(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Running> {
        lock(&self.running)
    }

    /// Counts a job that starts.
    pub(crate) fn take(self: &Arc<Self>, running: &mut Running, group: Group, lane: Lane) -> Slot {
        if running.count.is_some() {
            running.total += 1;
            let of_group = running.groups.entry(group).or_default();
            of_group.total += 1;
            if group.0 != lane.0 {
                *of_group.lanes.entry(lane).or_default() += 1;
            }
        }
        Slot {
            of: self.clone(),
            group,
            lane,
        }
    }
}

impl Running {
    /// Whether all slots are taken. A worker that did not say how many it has runs whatever it can,
    /// so none is free while a job waits.
    pub(crate) fn is_full(&self) -> bool {
        self.count.is_none_or(|count| self.total >= count)
    }

    /// How many more jobs of a group could start if no other group's did.
    pub(crate) fn room(&self, group: Group) -> usize {
        let Some(count) = self.count else {
            return usize::MAX;
        };
        let own = self.groups.get(&group).map_or(0, |group| group.total);
        let others = self.total - own;
        // A group stops when it has as many as remain free.
        count.saturating_sub(others).div_ceil(2).saturating_sub(own)
    }

    /// Whether a job of a lane may start, if its group has this much room.
    pub(crate) fn has_room(&self, group: Group, lane: Lane, room: usize) -> bool {
        if self.count.is_none() || group.0 == lane.0 {
            return room > 0;
        }
        let group = self.groups.get(&group);
        let own = group.and_then(|group| group.lanes.get(&lane)).copied();
        own.unwrap_or(0) < room
    }

    fn give_back(&mut self, group: Group, lane: Lane) {
        self.total = self.total.saturating_sub(1);
        let Some(of_group) = self.groups.get_mut(&group) else {
            return;
        };
        of_group.total = of_group.total.saturating_sub(1);
        if let Some(own) = of_group.lanes.get_mut(&lane) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                of_group.lanes.remove(&lane);
            }
        }
        if of_group.total == 0 {
            self.groups.remove(&group);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut running = self.of.lock();
        if running.count.is_some() {
            running.give_back(self.group, self.lane);
            drop(running);
            self.of.taker.wake();
        }
    }
}

#[cfg(test)]
mod tests;
