//! Takes samples while the stream continues, until everything is as before.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;
use sqlx::PgConnection;

use super::{
    audit::Audit,
    sample::{Gauges, Sample, Stretch},
};
use crate::{
    driver_client::DriverClient,
    protocol::{Progress, Request},
};

/// The length of the stretch `during`, and when everything should be as before.
pub(super) const LAST: Duration = Duration::from_mins(1);
/// The longest time for which it is watched after the release.
const PATIENCE: Duration = Duration::from_mins(5);

/// How soon after the release something was as before: at most twice what it was while the table was fresh.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Recovery {
    pub(super) claims_seconds: Option<f64>,
    pub(super) dead_rows_seconds: Option<f64>,
}

pub(super) struct Run {
    pub(super) worker: DriverClient,
    pub(super) producer: DriverClient,
    pub(super) conn: PgConnection,
    pub(super) begun: Instant,
    pub(super) every: Duration,
    pub(super) samples: Vec<Sample>,
}

impl Run {
    /// Takes samples for a while.
    pub(super) async fn watch(&mut self, duration: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            tokio::time::sleep(self.every.min(left)).await;
            self.sample().await?;
        }
        Ok(())
    }

    pub(super) async fn sample(&mut self) -> anyhow::Result<()> {
        let worked: Progress = self.worker.ask(Request::Progress).await?;
        let produced: Progress = self.producer.ask(Request::Progress).await?;
        let gauges = Gauges::read(&mut self.conn).await?;
        let sample = Sample::new(self.begun.elapsed(), &worked, &produced, gauges);
        eprintln!("{sample}");
        self.samples.push(sample);
        Ok(())
    }

    /// The last so many seconds.
    pub(super) fn stretch(&self, length: Duration) -> Stretch {
        let now = self.begun.elapsed();
        let first = now.saturating_sub(length);
        Stretch::of(self.samples.iter().filter(|sample| sample.at > first))
    }

    /// Watches until all is as before, a minute at least.
    pub(super) async fn recover(&mut self, fresh: &Stretch) -> anyhow::Result<(Recovery, Stretch)> {
        let released = self.begun.elapsed();
        let mut recovery = Recovery::default();
        let mut after = None;
        loop {
            self.watch(self.every).await?;
            let since = self.begun.elapsed().saturating_sub(released);
            let latest = self.stretch(self.every);
            if latest.claims_as_before(fresh) {
                recovery.claims_seconds.get_or_insert(since.as_secs_f64());
            }
            if latest.dead_rows_as_before(fresh) {
                recovery
                    .dead_rows_seconds
                    .get_or_insert(since.as_secs_f64());
            }
            if since < LAST {
                continue;
            }
            let after = after.get_or_insert_with(|| self.stretch(LAST / 2));
            let is_over = recovery.claims_seconds.is_some() && recovery.dead_rows_seconds.is_some();
            if is_over || since > PATIENCE {
                return Ok((recovery, after.clone()));
            }
        }
    }

    /// Ends production, waits until nothing is left, and counts.
    pub(super) async fn audit(&mut self) -> anyhow::Result<Audit> {
        self.producer.order(Request::Stop).await?;
        let produced: Progress = self.producer.ask(Request::Progress).await?;
        let begun = Instant::now();
        let mut left = 1;
        while left > 0 && begun.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(200)).await;
            left = self.count("select count(*) from queue.jobs").await?;
        }
        self.worker.order(Request::Stop).await?;
        ensure!(produced.enqueued > 0, "nothing was enqueued");
        Ok(Audit {
            enqueued: produced.enqueued,
            effects: self.count("select count(*) from effects").await?,
            done: self.count("select count(distinct n) from effects").await?,
            dead: self.count("select count(*) from queue.dead_jobs").await?,
            left,
        })
    }

    async fn count(&mut self, query: &'static str) -> anyhow::Result<u64> {
        let count: i64 = sqlx::query_scalar(query).fetch_one(&mut self.conn).await?;
        Ok(count.unsigned_abs())
    }
}
