//! The settings of a worker on one queue.

use std::ops::RangeInclusive;

use apalis_core::error::BoxDynError;

use super::error::{SettingsError, ensure};
use crate::{
    QueueName, Retry,
    effect::{Obituary, ObituaryFn, obituary},
};

/// The most jobs that a worker may hold claimed and not started.
const PREFETCH: RangeInclusive<usize> = 1..=10_000;

/// How a process works on one queue.
#[derive(Clone, Copy, Debug)]
pub struct BackendSettings {
    pub(crate) queue: QueueName,
    pub(crate) prefetch: usize,
    pub(crate) slots: Option<usize>,
    pub(crate) group_cap: Option<u32>,
    pub(crate) lane_cap: Option<u32>,
    pub(crate) retry: Retry,
    pub(crate) obituary: Option<ObituaryFn>,
    pub(crate) is_outage: fn(&BoxDynError) -> bool,
}

impl BackendSettings {
    /// Up to 64 jobs claimed ahead, no cap per lane, the default [`Retry`].
    pub fn new(queue: QueueName) -> Self {
        Self {
            queue,
            prefetch: 64,
            slots: None,
            group_cap: None,
            lane_cap: None,
            retry: Retry::default(),
            obituary: None,
            is_outage: |_| false,
        }
    }

    /// How many jobs of one group to hold claimed and not yet started, 1 to 10,000; of all groups, twice as many. More means
    /// fewer claims. Less means that a newcomer's job waits behind fewer others. Half a second's work at most is a good measure.
    pub fn prefetch(mut self, jobs: usize) -> Self {
        self.prefetch = jobs;
        self
    }

    /// How many jobs the worker runs at once, which is what it was given as `.concurrency(n)`. With this, no group gets more
    /// slots than it leaves free, and no lane more than it leaves free of what its group may have: a half for one greedy group,
    /// a third for each of two. Without it, jobs start as they come.
    pub fn slots(mut self, jobs: usize) -> Self {
        self.slots = Some(jobs);
        self
    }

    /// How many jobs of one group may run at once, at least one, over all processes, where
    /// [`groups::set_cap`](crate::groups::set_cap) has set nothing else. Claimed and unstarted ones count.
    pub fn group_cap(mut self, jobs: u32) -> Self {
        self.group_cap = Some(jobs);
        self
    }

    /// How many jobs of one lane may run at once, at least one, over all processes, where
    /// [`lanes::set_cap`](crate::lanes::set_cap) has set nothing else. Claimed and unstarted ones count.
    pub fn lane_cap(mut self, jobs: u32) -> Self {
        self.lane_cap = Some(jobs);
        self
    }

    /// When a failed job of this queue is tried again.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// What happens, in the transaction of the burial, when jobs of this queue die.
    pub fn on_dead<O: Obituary>(mut self) -> Self {
        self.obituary = Some(obituary::<O>);
        self
    }

    /// Which of a handler's errors are no fault of the job, such as a database that is away: they charge no attempt, and the
    /// job is due again some seconds later. None by default.
    pub fn uncharged(mut self, is_outage: fn(&BoxDynError) -> bool) -> Self {
        self.is_outage = is_outage;
        self
    }

    /// Checks that these settings can work.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), SettingsError> {
        let queue = self.queue;
        ensure(PREFETCH.contains(&self.prefetch), || {
            format!(
                "prefetch of the queue {queue} is {}; it may be {} to {}",
                self.prefetch,
                PREFETCH.start(),
                PREFETCH.end()
            )
        })?;
        ensure(self.lane_cap != Some(0), || {
            format!(
                "lane_cap of the queue {queue} is 0, so no job would ever run; pause lanes instead"
            )
        })?;
        ensure(self.group_cap != Some(0), || {
            format!(
                "group_cap of the queue {queue} is 0, so no job would ever run; pause groups instead"
            )
        })?;
        ensure(self.slots != Some(0), || {
            format!("slots of the queue {queue} is 0, so no job would ever run")
        })?;
        self.retry
            .check()
            .map_err(|reason| SettingsError(format!("retry of the queue {queue}: {reason}")))
    }

    /// The queue worked on.
    pub fn queue(&self) -> QueueName {
        self.queue
    }
}
