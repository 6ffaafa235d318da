//! What an autoscaler reads: the gauges of the queues, over all processes.

use std::collections::HashMap;

use super::Signal;
use crate::stack::Stack;

/// The queues whose jobs each keep a slot of a worker busy for a short time. The others have one
/// lane or few, and never need a second worker.
pub(super) const QUEUES: [&str; 4] = ["images", "analysis", "rules", "webhooks"];
/// The share of the slots that should be busy.
const BUSY: f64 = 0.7;
/// The lag that should be reached at most.
const LAG_SECONDS: f64 = 30.0;

/// What all processes showed at one time.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Maxima over the processes, because all but two show 0.
    highest: HashMap<String, f64>,
    /// Sums over the processes.
    sums: HashMap<String, f64>,
}

impl Reading {
    /// Reads every process. One that is just ending may not answer, as in any cluster.
    pub(super) async fn take(stack: &Stack) -> Self {
        let mut reading = Self::default();
        for process in stack.apis.iter().chain(&stack.workers) {
            if let Ok(text) = process.metrics().await {
                reading.add(&text);
            }
        }
        reading
    }

    fn add(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let Ok(value) = value.parse::<f64>() else {
                continue;
            };
            let highest = self.highest.entry(name.to_owned()).or_insert(value);
            *highest = highest.max(value);
            *self.sums.entry(name.to_owned()).or_default() += value;
        }
    }

    /// The ratios of the metrics to their targets, as the triggers of a `ScaledObject` define them.
    pub(super) fn ratios(&self, signal: Signal) -> [f64; 2] {
        let demand = QUEUES.iter().map(|queue| self.demand(queue, signal));
        [
            demand.fold(0.0, f64::max) / BUSY,
            self.lag(signal) / LAG_SECONDS,
        ]
    }

    /// The jobs of a queue for each slot.
    fn demand(&self, queue: &str, signal: Signal) -> f64 {
        let slots = sample(
            &self.sums,
            &format!("gatehouse_worker_slots{{queue=\"{queue}\"}}"),
        );
        let runnable = self.maximum(&format!("gatehouse_queue_runnable{{queue=\"{queue}\"}}"));
        let jobs = match signal {
            Signal::Demand => runnable + self.running(queue),
            Signal::Backlog => runnable,
        };
        if slots > 0.0 { jobs / slots } else { 0.0 }
    }

    /// Claimed jobs, whether or not they have started.
    fn running(&self, queue: &str) -> f64 {
        self.maximum(&format!(
            "gatehouse_queue_jobs{{queue=\"{queue}\",state=\"running\"}}"
        ))
    }

    /// How long the oldest job of any queue had waited when the queues were read, in seconds.
    pub(super) fn lag(&self, signal: Signal) -> f64 {
        let name = match signal {
            Signal::Demand => "gatehouse_queue_oldest_runnable_timestamp_seconds",
            Signal::Backlog => "gatehouse_queue_oldest_due_timestamp_seconds",
        };
        let read = self.maximum("gatehouse_queue_stats_timestamp_seconds");
        let lags = QUEUES
            .iter()
            .map(|queue| read - self.maximum(&format!("{name}{{queue=\"{queue}\"}}")));
        lags.fold(0.0, f64::max)
    }

    fn maximum(&self, name: &str) -> f64 {
        sample(&self.highest, name)
    }
}

fn sample(samples: &HashMap<String, f64>, name: &str) -> f64 {
    samples.get(name).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_of_two_processes_are_read_together() {
        let mut reading = Reading::default();
        reading.add(
            "# TYPE gatehouse_queue_runnable gauge\n\
             gatehouse_queue_runnable{queue=\"analysis\"} 20\n\
             gatehouse_queue_jobs{queue=\"analysis\",state=\"running\"} 15\n\
             gatehouse_worker_slots{queue=\"analysis\"} 8\n",
        );
        reading.add(
            "gatehouse_queue_runnable{queue=\"analysis\"} 0\n\
             gatehouse_worker_slots{queue=\"analysis\"} 8\n",
        );
        let [demand, lag] = reading.ratios(Signal::Demand);
        assert!((demand - 35.0 / 16.0 / BUSY).abs() < 1e-9);
        assert!(lag.abs() < 1e-9);
        let [backlog, _] = reading.ratios(Signal::Backlog);
        assert!((backlog - 20.0 / 16.0 / BUSY).abs() < 1e-9);
    }
}
