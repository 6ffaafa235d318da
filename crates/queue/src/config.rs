//! The settings: one set per process, one per queue worked on.

use std::{ops::RangeInclusive, time::Duration};

use apalis_core::error::BoxDynError;

use crate::{
    QueueName, Retry,
    effect::{OnDead, OnDeadFn, on_dead_fn},
};

/// The most jobs that one transaction may finish.
const FINISH_BATCH: RangeInclusive<usize> = 1..=10_000;
/// The most finishers of a process: each keeps a connection.
const FINISHERS: RangeInclusive<usize> = 1..=16;
/// The most jobs that a worker may hold claimed and not started.
const PREFETCH: RangeInclusive<usize> = 1..=10_000;

const DAY: Duration = Duration::from_hours(24);
const CENTURY: Duration = Duration::from_hours(24 * 366 * 100);

/// The settings of a process's [`Queue`](crate::Queue).
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long a worker may be silent before its jobs are given to others. A job may run for
    /// longer.
    pub lease: Duration,
    /// How often the worker shows that it is alive; at most a third of the lease.
    pub heartbeat: Duration,
    /// How often jobs of dead workers are searched for. It is also the time between the two checks
    /// with which a process finds jobs that it lost because the answer to a claim was lost. That
    /// time is at least `deadline`.
    pub sweep: Duration,
    /// How often the housekeeper looks after the generations of the indexes.
    pub tick: Duration,
    /// The longest sleep of a worker that hears nothing. A lost wake-up costs at most this time.
    pub poll: Duration,
    /// The most jobs finished in one transaction.
    pub finish_batch: usize,
    /// How many transactions finish jobs at once, each on a connection of its own. More than one
    /// rarely helps: while one commits, the next batch fills.
    pub finishers: usize,
    /// The most connections for claims, of all queues together. No handler takes one of them.
    pub claim_connections: u32,
    /// How long a finishing transaction, or a claim, may take before its connection is given up.
    pub deadline: Duration,
    /// How often the two oldest processes read the queues' depth for the gauges.
    pub stats: Duration,
    /// How long dead jobs are kept.
    pub dead_retention: Duration,
    /// All queues, whether this process works on them or not, so that their metrics exist from the
    /// start.
    pub queues: &'static [QueueName],
    /// The caps of their lanes, as [`BackendSettings::lane_cap`] sets them in the processes that
    /// work on them. The gauge of runnable jobs depends on them.
    pub lane_caps: &'static [(QueueName, u32)],
    /// The same for groups, as [`BackendSettings::group_cap`] sets them.
    pub group_caps: &'static [(QueueName, u32)],
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
            claim_connections: 4,
            deadline: Duration::from_secs(10),
            stats: Duration::from_secs(15),
            dead_retention: Duration::from_hours(90 * 24),
            queues: &[],
            lane_caps: &[],
            group_caps: &[],
        }
    }
}

impl Config {
    /// Checks that these settings work together.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        for (name, duration) in [
            ("lease", self.lease),
            ("heartbeat", self.heartbeat),
            ("sweep", self.sweep),
            ("tick", self.tick),
            ("poll", self.poll),
            ("deadline", self.deadline),
            ("stats", self.stats),
            ("dead_retention", self.dead_retention),
        ] {
            let longest = match name {
                "dead_retention" => CENTURY,
                _ => DAY,
            };
            ensure(
                (Duration::from_millis(1)..=longest).contains(&duration),
                || format!("{name} is {duration:?}; it may be 1 ms to {longest:?}"),
            )?;
        }
        ensure(self.heartbeat * 3 <= self.lease, || {
            format!(
                "heartbeat is {:?} and lease is {:?}; heartbeat may be at most a third of lease",
                self.heartbeat, self.lease
            )
        })?;
        ensure(self.claim_connections > 0, || {
            "claim_connections is 0; it may be 1 or more".to_owned()
        })?;
        for (name, value, range) in [
            ("finish_batch", self.finish_batch, FINISH_BATCH),
            ("finishers", self.finishers, FINISHERS),
        ] {
            ensure(range.contains(&value), || {
                format!(
                    "{name} is {value}; it may be {} to {}",
                    range.start(),
                    range.end()
                )
            })?;
        }
        Ok(())
    }
}

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

/// A setting that is not valid, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), SettingsError> {
    if holds {
        Ok(())
    } else {
        Err(SettingsError(message()))
    }
}

#[cfg(test)]
mod tests;
