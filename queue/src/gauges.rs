//! The gauges of the queues' depth.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{SystemTime, UNIX_EPOCH},
};

use sqlx::PgConnection;

use crate::{
    metrics,
    shared::Shared,
    stats::{self, QueueStats},
};

/// The gauges of the queues' depth, published by the two oldest processes.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// The queues that were reported before. A queue that has become empty must be reported as
    /// empty.
    reported: BTreeSet<String>,
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
            stats::read(conn, shared.config.lane_caps, shared.config.group_caps)
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
            metrics::depth(stats, Some(read_at));
        }
        metrics::read_at(Some(read_at));
        self.reported.extend(stats.into_keys());
        Ok(())
    }

    /// Sets all figures to zero, because other processes publish them from now on.
    pub(crate) fn forget(&self) {
        for queue in &self.reported {
            let nothing = QueueStats {
                queue: queue.clone(),
                ..QueueStats::default()
            };
            metrics::depth(&nothing, None);
        }
        metrics::read_at(None);
    }
}
