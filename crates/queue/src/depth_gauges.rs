//! The gauges of the queues' depth.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sqlx::PgConnection;

use crate::{
    depth::{self, QueueStats},
    metrics,
    shared::Shared,
};

/// The gauges of the queues' depth, published by the two oldest processes.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// The queues that were reported before. A queue that has become empty must be reported as
    /// empty.
    reported: BTreeSet<String>,
    /// When the numbers that are shown were read.
    read: Option<Instant>,
}

impl Gauges {
    pub(crate) async fn publish(
        &mut self,
        conn: &mut PgConnection,
        shared: &Shared,
    ) -> Result<(), sqlx::Error> {
        let known = shared.config.queues.iter().copied();
        let known = known.chain(shared.known_queues());
        self.reported
            .extend(known.map(|queue| queue.as_str().to_owned()));
        let mut stats: BTreeMap<String, QueueStats> =
            depth::read(conn, shared.config.lane_caps, shared.config.group_caps)
                .await?
                .into_iter()
                .map(|stats| (stats.queue.clone(), stats))
                .collect();
        for queue in &self.reported {
            let empty = || QueueStats {
                queue: queue.clone(),
                ..QueueStats::default()
            };
            stats.entry(queue.clone()).or_insert_with(empty);
        }
        let read_at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();
        for stats in stats.values() {
            metrics::depth(stats, read_at);
        }
        metrics::read_at(read_at);
        self.read = Some(Instant::now());
        self.reported.extend(stats.into_keys());
        Ok(())
    }

    /// Shows no numbers any more if they are older than this. The times stay: they show how old
    /// everything is.
    pub(crate) fn expire(&mut self, age: Duration) {
        if self.read.is_some_and(|read| read.elapsed() > age) {
            self.show_no_depth();
        }
    }

    /// Shows nothing any more, because other processes publish from now on.
    pub(crate) fn forget(&mut self) {
        self.show_no_depth();
        metrics::no_times(self.reported.iter());
    }

    fn show_no_depth(&mut self) {
        self.read = None;
        for queue in &self.reported {
            metrics::no_depth(queue);
        }
    }
}

#[cfg(test)]
mod tests;
