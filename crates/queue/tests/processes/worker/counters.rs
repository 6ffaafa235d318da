//! What a worker process counted.

use std::collections::BTreeMap;

/// What a worker process counted, by metric name and labels.
pub(crate) struct Counters(pub(super) BTreeMap<String, u64>);

impl Counters {
    /// The sum of a counter over all of its labels that contain `label`.
    pub(crate) fn sum(&self, name: &str, label: &str) -> u64 {
        let counters = self
            .0
            .iter()
            .filter(|(line, _)| line.split('{').next() == Some(name) && line.contains(label));
        counters.map(|(_, count)| count).sum()
    }

    /// How many outcomes of this worker were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.sum(queue::metrics::JOBS_FENCED, "")
    }

    /// How many jobs it finished.
    pub(crate) fn done(&self) -> u64 {
        self.sum(queue::metrics::JOBS_FINISHED, "\"done\"")
    }
}
