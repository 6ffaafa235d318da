//! The settings: one set per process, one per queue worked on.

use std::time::Duration;

use crate::{
    QueueName, Retry,
    effect::{Obituary, ObituaryFn, obituary},
};

/// The settings of a process's [`Queue`](crate::Queue).
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long a worker may be silent before its jobs are given to others. A job may run for longer.
    pub lease: Duration,
    /// How often the worker shows that it lives; a third of the lease or less.
    pub heartbeat: Duration,
    /// How often jobs of dead workers are looked for, and jobs that this process lost track of.
    pub sweep: Duration,
    /// How often the elected process looks after the generations of the indexes.
    pub tick: Duration,
    /// The longest a worker sleeps while it hears nothing: a lost wake-up costs this much.
    pub poll: Duration,
    /// The most jobs finished in one transaction.
    pub finish_batch: usize,
    /// How many transactions finish jobs at once, each on a connection of its own. More than one rarely
    /// pays: while one commits, the next batch fills.
    pub finishers: usize,
    /// How long a finishing transaction, or a claim, may take before its connection is given up.
    pub deadline: Duration,
    /// How often the elected process reads the queues' depth for the gauges.
    pub stats: Duration,
    /// How long dead jobs are kept.
    pub dead_retention: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            heartbeat: Duration::from_secs(5),
            sweep: Duration::from_secs(5),
            tick: Duration::from_secs(1),
            poll: Duration::from_millis(500),
            finish_batch: 500,
            finishers: 1,
            deadline: Duration::from_secs(10),
            stats: Duration::from_secs(15),
            dead_retention: Duration::from_hours(90 * 24),
        }
    }
}

/// How a process works on one queue.
#[derive(Clone, Copy, Debug)]
pub struct BackendSettings {
    pub(crate) queue: QueueName,
    pub(crate) prefetch: usize,
    pub(crate) lane_cap: Option<u32>,
    pub(crate) retry: Retry,
    pub(crate) obituary: Option<ObituaryFn>,
}

impl BackendSettings {
    /// Up to 64 jobs claimed ahead, no cap per lane, the default [`Retry`].
    pub fn new(queue: QueueName) -> Self {
        Self {
            queue,
            prefetch: 64,
            lane_cap: None,
            retry: Retry::default(),
            obituary: None,
        }
    }

    /// How many jobs to hold claimed and not yet started, at least one. More means fewer claims; less means
    /// that a newcomer's job waits behind fewer others. Half a second's work at most is a good measure.
    pub fn prefetch(mut self, jobs: usize) -> Self {
        self.prefetch = jobs.max(1);
        self
    }

    /// How many jobs of one lane may run at once, over all processes, where
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

    /// The queue worked on.
    pub fn queue(&self) -> QueueName {
        self.queue
    }
}
