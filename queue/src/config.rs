//! The settings: one set per process, one per queue worked on.

use std::{ops::RangeInclusive, time::Duration};

use apalis_core::error::BoxDynError;

use crate::{
    QueueName, Retry,
    effect::{Obituary, ObituaryFn, obituary},
};

/// The most jobs that one transaction may finish.
const FINISH_BATCH: RangeInclusive<usize> = 1..=10_000;
/// The most finishers of a process: each keeps a connection.
const FINISHERS: RangeInclusive<usize> = 1..=16;

const DAY: Duration = Duration::from_hours(24);
const CENTURY: Duration = Duration::from_hours(24 * 366 * 100);

/// The most jobs that a worker may hold claimed and not started.
const PREFETCH: RangeInclusive<usize> = 1..=10_000;

/// A setting that cannot be meant, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

/// The settings of a process's [`Queue`](crate::Queue).
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long a worker may be silent before its jobs are given to others. A job may run for longer.
    pub lease: Duration,
    /// How often the worker shows that it lives; a third of the lease or less.
    pub heartbeat: Duration,
    /// How often jobs of dead workers are looked for. What a process has lost track of itself, because the answer to a claim
    /// was lost, it finds by two looks, which are this far apart and no less than `deadline`.
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
    /// How often the two eldest processes read the queues' depth for the gauges.
    pub stats: Duration,
    /// How long dead jobs are kept.
    pub dead_retention: Duration,
    /// The queues that there are, whether this process works on them or not: so their metrics are there from the start.
    pub queues: &'static [QueueName],
    /// The caps of their lanes, as [`BackendSettings::lane_cap`] sets them in the processes that work on them. The gauge of the
    /// jobs that can run follows from them.
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
    /// Checks that these settings can work together.
    ///
    /// # Errors
    /// The first that cannot.
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

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), SettingsError> {
    if holds {
        Ok(())
    } else {
        Err(SettingsError(message()))
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

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: QueueName = QueueName::new("tests");

    fn refusal(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(Config::default().check(), Ok(()));
        assert_eq!(BackendSettings::new(QUEUE).check(), Ok(()));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        assert!(refusal(|c| c.lease = Duration::ZERO).starts_with("lease is 0"));
        assert!(refusal(|c| c.poll = Duration::ZERO).starts_with("poll is 0"));
        assert!(refusal(|c| c.dead_retention = Duration::ZERO).starts_with("dead_retention"));
        assert!(refusal(|c| c.heartbeat = c.lease / 2).contains("three times"));
        assert!(refusal(|c| c.finish_batch = 0).contains("it may be 1 to 10000"));
        assert!(refusal(|c| c.finishers = 0).contains("it may be 1 to 16"));
    }

    #[test]
    fn so_is_what_no_worker_can_work_with() {
        let settings = BackendSettings::new(QUEUE);
        let retry = Retry::default();
        for (settings, expected) in [
            (settings.prefetch(0), "prefetch of the queue tests is 0"),
            (settings.lane_cap(0), "lane_cap of the queue tests is 0"),
            (settings.group_cap(0), "group_cap of the queue tests is 0"),
            (settings.slots(0), "slots of the queue tests is 0"),
            (
                settings.retry(Retry {
                    factor: f64::NAN,
                    ..retry
                }),
                "retry of the queue tests: factor",
            ),
            (
                settings.retry(Retry {
                    jitter: -0.1,
                    ..retry
                }),
                "retry of the queue tests: jitter",
            ),
            (
                settings.retry(Retry {
                    max: Duration::ZERO,
                    ..retry
                }),
                "retry of the queue tests: max",
            ),
        ] {
            let refusal = settings.check().unwrap_err().to_string();
            assert!(refusal.starts_with(expected), "{refusal}");
        }
    }
}
