//! The bottleneck of a queue in a process, which holds its jobs back: slots, a group's share of them, a cap, what
//! running jobs wait for, or the database. Each process looks a few times a second, counts the time,
//! and tells the others with its heartbeats.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::{QueueName, lock::lock};

/// What holds jobs back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bottleneck {
    /// All slots of the process are taken.
    Slots,
    /// Slots are free, but the groups and lanes whose jobs wait have as many as they may have.
    TeamShare,
    /// A lane or a group has as many jobs as its cap allows, over all processes.
    Cap,
    /// Jobs wait for a provider: for one of the requests that it may get at once, or because it is
    /// paused.
    ProviderLimit,
    /// A receiver takes no more in this second.
    EndpointPace,
    /// Claims fail or are slow, results are recorded late, or the pool has no free connection.
    Database,
}

impl Bottleneck {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Slots,
        Self::TeamShare,
        Self::Cap,
        Self::ProviderLimit,
        Self::EndpointPace,
        Self::Database,
    ];

    /// The name in metrics and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::TeamShare => "team_share",
            Self::Cap => "cap",
            Self::ProviderLimit => "provider_limit",
            Self::EndpointPace => "endpoint_pace",
            Self::Database => "database",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bound| bound.as_str() == name)
    }
}

/// The jobs of a process that wait for one thing, made by [`Queue::waits`](crate::Queue::waits).
/// Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Waits(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Running jobs that wait now.
    running: AtomicUsize,
    /// Until when jobs wait that went back to the queue.
    until: Mutex<Option<Instant>>,
}

/// A running job waits until this is dropped.
#[derive(Debug)]
pub struct Waiting(Arc<Inner>);

impl Waits {
    /// A running job waits from now on.
    #[must_use = "the wait ends when this is dropped"]
    pub fn begin(&self) -> Waiting {
        self.0.running.fetch_add(1, Relaxed);
        Waiting(Arc::clone(&self.0))
    }

    /// A job goes back to the queue for this time.
    pub fn note(&self, wait: Duration) {
        let mut until = lock(&self.0.until);
        *until = (*until).max(Instant::now().checked_add(wait));
    }

    /// Whether a job waits now.
    #[must_use]
    pub fn any(&self) -> bool {
        let until = *lock(&self.0.until);
        self.0.running.load(Relaxed) > 0 || until.is_some_and(|until| Instant::now() < until)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Relaxed);
    }
}

/// Everything that handlers of this process say.
#[derive(Debug, Default)]
pub(crate) struct AllWaits(Mutex<HashMap<(QueueName, Bottleneck), Waits>>);

impl AllWaits {
    pub(crate) fn of(&self, queue: QueueName, bound: Bottleneck) -> Waits {
        lock(&self.0).entry((queue, bound)).or_default().clone()
    }

    /// Whether a job of this queue waits for this now.
    pub(crate) fn any(&self, queue: QueueName, bound: Bottleneck) -> bool {
        lock(&self.0).get(&(queue, bound)).is_some_and(Waits::any)
    }
}

/// The time that one report is about.
const WINDOW: Duration = Duration::from_secs(5);

/// The report of a process that has not looked yet. A report is what a process tells the others: for
/// each queue, the share of the last seconds in which something held its jobs back. It is JSON in the
/// process's row of `queue.workers`, such as `{"analysis": {"team_share": 0.96}}`. Its size is bounded
/// by the numbers of queues and of bounds.
pub(crate) const NOTHING: &str = "{}";

/// For how much of the last seconds a process's jobs of a queue were held back by something.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckShare {
    /// The queue's name.
    pub queue: String,
    /// What held its jobs back.
    pub by: Bottleneck,
    /// The share of the time, from 0 to 1.
    pub share: f64,
}

/// The time that a process has looked at, and what held jobs back in it.
#[derive(Debug, Default)]
pub(crate) struct Window {
    passed: Duration,
    bound: BTreeMap<(QueueName, Bottleneck), Duration>,
}

impl Window {
    pub(crate) fn add(&mut self, passed: Duration, bound: &[(QueueName, Bottleneck)]) {
        self.passed += passed;
        for &of_queue in bound {
            *self.bound.entry(of_queue).or_default() += passed;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.passed >= WINDOW
    }

    pub(crate) fn json(&self) -> String {
        let mut queues: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
        for ((queue, by), time) in &self.bound {
            let percent = (time.div_duration_f64(self.passed) * 100.0).round();
            let of_queue = queues.entry(queue.as_str()).or_default();
            of_queue.insert(by.as_str(), percent / 100.0);
        }
        serde_json::to_string(&queues).expect("texts and finite numbers are JSON")
    }
}

/// What a report says. It leaves out what this version does not know.
pub(crate) fn read(json: &str) -> Vec<BottleneckShare> {
    let queues: BTreeMap<String, BTreeMap<String, f64>> =
        serde_json::from_str(json).unwrap_or_default();
    let mut found = Vec::new();
    for (queue, bounds) in queues {
        for (name, share) in bounds {
            if let Some(by) = Bottleneck::named(&name) {
                let queue = queue.clone();
                found.push(BottleneckShare { queue, by, share });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: QueueName = QueueName::new("q");

    #[test]
    fn a_report_has_the_share_of_the_time_and_is_read_again() {
        let mut window = Window::default();
        assert_eq!(window.json(), NOTHING);
        let second = Duration::from_secs(1);
        window.add(second, &[(QUEUE, Bottleneck::TeamShare)]);
        assert!(!window.is_over());
        window.add(second * 2, &[(QUEUE, Bottleneck::Slots)]);
        window.add(second * 2, &[]);
        assert!(window.is_over());
        assert_eq!(window.json(), r#"{"q":{"slots":0.4,"team_share":0.2}}"#);
        let share = |by, share| BottleneckShare {
            queue: "q".to_owned(),
            by,
            share,
        };
        assert_eq!(
            read(&window.json()),
            [
                share(Bottleneck::Slots, 0.4),
                share(Bottleneck::TeamShare, 0.2)
            ]
        );
    }

    #[test]
    fn what_a_newer_version_says_is_left_out() {
        let found = read(r#"{"q":{"moonlight":0.5,"cap":1}}"#);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].by, Bottleneck::Cap);
        assert!(read("[]").is_empty());
    }

    #[test]
    fn every_bound_is_found_by_its_name() {
        for bound in Bottleneck::ALL {
            assert_eq!(Bottleneck::named(bound.as_str()), Some(bound));
        }
    }

    #[test]
    fn jobs_wait_while_they_run_and_after_they_went_back() {
        let all = AllWaits::default();
        let waits = all.of(QUEUE, Bottleneck::ProviderLimit);
        let any = || all.any(QUEUE, Bottleneck::ProviderLimit);
        assert!(!any());
        let (first, second) = (waits.begin(), waits.begin());
        drop(first);
        assert!(any());
        assert!(!all.any(QUEUE, Bottleneck::EndpointPace), "another thing");
        drop(second);
        assert!(!any());
        waits.note(Duration::from_hours(1));
        waits.note(Duration::ZERO);
        assert!(any(), "the longest wait counts");
    }
}
