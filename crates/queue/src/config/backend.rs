//! The settings of a worker on one queue.

use std::ops::RangeInclusive;

use apalis_core::error::BoxDynError;

use super::{SettingsError, ensure};
use crate::{
    QueueName, Retry,
    effect::{OnDead, OnDeadFn, on_dead_fn},
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
    pub(crate) on_dead: Option<OnDeadFn>,
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
            on_dead: None,
            is_outage: |_| false,
        }
    }

    /// How many jobs of one group to hold claimed and not started, 1 to 10,000; twice as many of
    /// all groups together. A higher number means fewer claims. With a lower number, a new group's
    /// job waits behind fewer others. A good value is half a second of work at most.
    pub fn prefetch(mut self, jobs: usize) -> Self {
        self.prefetch = jobs;
        self
    }

    /// How many jobs the worker runs at once: the same number as `.concurrency(n)`. With this, no
    /// group gets more slots than remain free, and no lane more than remain free of its group's
    /// slots: a half for one greedy group, a third for each of two. Without it, jobs start as they
    /// come.
    pub fn slots(mut self, jobs: usize) -> Self {
        self.slots = Some(jobs);
        self
    }

    /// How many jobs of one group may run at once over all processes, at least one.
    /// [`groups::set_cap`](crate::groups::set_cap) overrides it. Claimed and unstarted jobs count.
    pub fn group_cap(mut self, jobs: u32) -> Self {
        self.group_cap = Some(jobs);
        self
    }

    /// How many jobs of one lane may run at once over all processes, at least one.
    /// [`lanes::set_cap`](crate::lanes::set_cap) overrides it. Claimed and unstarted jobs count.
    pub fn lane_cap(mut self, jobs: u32) -> Self {
        self.lane_cap = Some(jobs);
        self
    }

    /// When to try a failed job of this queue again.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// What to do when jobs of this queue die, in the transaction that moves them to `dead_jobs`.
    pub fn on_dead<O: OnDead>(mut self) -> Self {
        self.on_dead = Some(on_dead_fn::<O>);
        self
    }

    /// Which errors of a handler are not the job's fault, such as a database that is away. They do
    /// not charge an attempt, and the job is due again some seconds later. None by default.
    pub fn uncharged(mut self, is_outage: fn(&BoxDynError) -> bool) -> Self {
        self.is_outage = is_outage;
        self
    }

    /// Checks that these settings can work.
    ///
    /// # Errors
    /// The first setting that cannot.
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

    /// The queue that the worker works on.
    pub fn queue(&self) -> QueueName {
        self.queue
    }
}
