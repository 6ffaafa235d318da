//! What a process tells the others: for each queue, the share of the last seconds in which something
//! held its jobs back. It is JSON in the process's row of `queue.workers`, such as
//! `{"analysis": {"team_share": 0.96}}`. Its size is bounded by the numbers of queues and of bounds.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::Bottleneck;
use crate::QueueName;

/// The time that one report is about.
const WINDOW: Duration = Duration::from_secs(5);

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

/// The newest report of this process.
#[derive(Debug)]
pub(crate) struct Report(Mutex<String>);

impl Default for Report {
    fn default() -> Self {
        Self(Mutex::new(Window::default().json()))
    }
}

impl Report {
    pub(crate) fn json(&self) -> String {
        self.lock().clone()
    }

    pub(super) fn set(&self, window: &Window) {
        *self.lock() = window.json();
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that a process has looked at, and what held jobs back in it.
#[derive(Debug, Default)]
pub(super) struct Window {
    passed: Duration,
    bound: BTreeMap<(QueueName, Bottleneck), Duration>,
}

impl Window {
    pub(super) fn add(&mut self, passed: Duration, bound: &[(QueueName, Bottleneck)]) {
        self.passed += passed;
        for &of_queue in bound {
            *self.bound.entry(of_queue).or_default() += passed;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.passed >= WINDOW
    }

    fn json(&self) -> String {
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
        let report = Report::default();
        assert_eq!(report.json(), "{}");
        let mut window = Window::default();
        let second = Duration::from_secs(1);
        window.add(second, &[(QUEUE, Bottleneck::TeamShare)]);
        assert!(!window.is_over());
        window.add(second * 2, &[(QUEUE, Bottleneck::Slots)]);
        window.add(second * 2, &[]);
        assert!(window.is_over());
        report.set(&window);
        assert_eq!(report.json(), r#"{"q":{"slots":0.4,"team_share":0.2}}"#);
        let share = |by, share| BottleneckShare {
            queue: "q".to_owned(),
            by,
            share,
        };
        assert_eq!(
            read(&report.json()),
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
}
