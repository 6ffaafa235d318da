//! A few seconds of an endurance run, and stretches of them.

use std::{fmt, time::Duration};

use serde::Serialize;
use sqlx::{PgConnection, Row as _};

use crate::{
    latency::{Latencies, Percentiles},
    protocol::Progress,
};

/// Postgres's figures about the table (or tables) of the queue's jobs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Gauges {
    pub(super) table_bytes: i64,
    pub(super) index_bytes: i64,
    /// As the cumulative statistics estimate it.
    pub(super) dead_rows: i64,
}

impl Gauges {
    pub(super) async fn read(conn: &mut PgConnection) -> anyhow::Result<Self> {
        let row = sqlx::query(
            "
            select coalesce(sum(pg_table_size(relid)), 0)::bigint as table_bytes,
                   coalesce(sum(pg_indexes_size(relid)), 0)::bigint as index_bytes,
                   coalesce(sum(n_dead_tup), 0)::bigint as dead_rows
              from pg_stat_user_tables
             where schemaname = 'queue' and relname like 'jobs%'
            ",
        )
        .fetch_one(conn)
        .await?;
        Ok(Self {
            table_bytes: row.try_get("table_bytes")?,
            index_bytes: row.try_get("index_bytes")?,
            dead_rows: row.try_get("dead_rows")?,
        })
    }
}

/// What happened since the sample before.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sample {
    /// Since the beginning.
    pub(super) at: Duration,
    /// Jobs enqueued and not yet done.
    backlog: u64,
    #[serde(skip)]
    claims: Latencies,
    #[serde(skip)]
    waits: Latencies,
    claim: Percentiles,
    wait: Percentiles,
    gauges: Gauges,
}

impl Sample {
    pub(super) fn new(
        at: Duration,
        worked: &Progress,
        produced: &Progress,
        gauges: Gauges,
    ) -> Self {
        let claims = Latencies::of_micros(&worked.claims_us);
        let waits = Latencies::of_micros(&worked.waits_us);
        Self {
            at,
            backlog: produced.enqueued.saturating_sub(worked.done),
            claim: claims.percentiles(),
            wait: waits.percentiles(),
            claims,
            waits,
            gauges,
        }
    }

    pub(super) const fn heading() -> &'static str {
        "  time  backlog   claims: p50 ms   p99 ms   waits: p50 ms   p99 ms   table MB  indexes MB  dead rows"
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>5} s  {:>7}   {:>14.2} {:>8.2}   {:>13.2} {:>8.2}   {:>8.1}  {:>10.1}  {:>9}",
            self.at.as_secs(),
            self.backlog,
            self.claim.p50_ms,
            self.claim.p99_ms,
            self.wait.p50_ms,
            self.wait.p99_ms,
            megabytes(self.gauges.table_bytes),
            megabytes(self.gauges.index_bytes),
            self.gauges.dead_rows
        )
    }
}

/// Several samples together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Stretch {
    pub(super) claim: Percentiles,
    pub(super) wait: Percentiles,
    /// The largest of each.
    pub(super) backlog: u64,
    pub(super) dead_rows: i64,
    /// The last of each.
    pub(super) table_bytes: i64,
    pub(super) index_bytes: i64,
}

impl Stretch {
    pub(super) fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let (mut claims, mut waits) = (Latencies::new(), Latencies::new());
        let (mut backlog, mut dead_rows, mut last) = (0, 0, Gauges::default());
        for sample in samples {
            claims.merge(&sample.claims);
            waits.merge(&sample.waits);
            backlog = backlog.max(sample.backlog);
            dead_rows = dead_rows.max(sample.gauges.dead_rows);
            last = sample.gauges;
        }
        Self {
            claim: claims.percentiles(),
            wait: waits.percentiles(),
            backlog,
            dead_rows,
            table_bytes: last.table_bytes,
            index_bytes: last.index_bytes,
        }
    }

    /// Whether claims take at most twice as long as they did then.
    pub(super) fn claims_as_before(&self, fresh: &Self) -> bool {
        self.claim.count > 0 && self.claim.p99_ms <= 2.0 * fresh.claim.p99_ms
    }

    /// Whether there are at most twice as many dead rows as there were then.
    pub(super) fn dead_rows_as_before(&self, fresh: &Self) -> bool {
        self.dead_rows <= 2 * fresh.dead_rows
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
pub(super) fn megabytes(bytes: i64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(claims_us: Vec<u64>, dead_rows: i64, enqueued: u64) -> Sample {
        let progress = |enqueued, done, claims_us| Progress {
            enqueued,
            done,
            claims_us,
            waits_us: Vec::new(),
        };
        let gauges = Gauges {
            dead_rows,
            ..Gauges::default()
        };
        Sample::new(
            Duration::ZERO,
            &progress(0, 10, claims_us),
            &progress(enqueued, 0, Vec::new()),
            gauges,
        )
    }

    #[test]
    fn a_stretch_is_of_all_claims_and_of_the_worst_backlog() {
        let samples = [
            sample(vec![1_000; 50], 5, 30),
            sample(vec![3_000; 50], 2, 12),
        ];
        let stretch = Stretch::of(samples.iter());
        assert_eq!(stretch.claim.count, 100);
        assert!((stretch.claim.p99_ms - 3.0).abs() < 0.01);
        assert_eq!((stretch.backlog, stretch.dead_rows), (20, 5));
    }

    #[test]
    fn twice_as_much_is_as_before_and_more_is_not() {
        let fresh = Stretch::of([sample(vec![1_000; 10], 100, 10)].iter());
        let twice = Stretch::of([sample(vec![2_000; 10], 200, 10)].iter());
        let worse = Stretch::of([sample(vec![2_100; 10], 201, 10)].iter());
        let idle = Stretch::of([sample(Vec::new(), 0, 10)].iter());
        assert!(twice.claims_as_before(&fresh) && twice.dead_rows_as_before(&fresh));
        assert!(!worse.claims_as_before(&fresh) && !worse.dead_rows_as_before(&fresh));
        assert!(!idle.claims_as_before(&fresh), "nothing was claimed");
    }
}
