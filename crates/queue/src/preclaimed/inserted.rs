//! Which of some new jobs were inserted, and which of them this worker has claimed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{JobId, NewJobs, metrics, shared::Shared};

/// The jobs that were inserted, by their places, and the ids of those that this worker holds.
#[derive(Debug, Default)]
pub(crate) struct Inserted(pub(super) HashMap<usize, Option<JobId>>);

impl Inserted {
    pub(super) fn new(places: &[i32], ids: &[Option<i64>]) -> Self {
        let place = |place: i32| usize::try_from(place).ok();
        let pairs = places.iter().zip(ids);
        Self(
            pairs
                .filter_map(|(&at, id)| Some((place(at)?, id.map(JobId))))
                .collect(),
        )
    }

    /// After the commit: counts the inserted jobs, and wakes the queues of due jobs that nobody
    /// holds.
    pub(super) fn announce(&self, shared: &Shared, jobs: &NewJobs) {
        let Ok(columns) = jobs.columns() else {
            return;
        };
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut due = BTreeSet::new();
        let delays = columns.queues.iter().zip(columns.delays_ms);
        for (place, (&queue, &delay_ms)) in delays.enumerate() {
            let Some(held) = self.0.get(&place) else {
                continue;
            };
            *counts.entry(queue).or_default() += 1;
            if held.is_none() && delay_ms == 0 {
                due.insert(queue);
            }
        }
        for (queue, count) in counts {
            metrics::enqueued(queue, count);
        }
        shared.local_wakeups.wake(due);
    }
}
