//! A steady producer.

use std::time::Duration;

use anyhow::Context as _;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Driven, Placed, runs::Runs};
use crate::protocol::Production;

/// How often a steady producer enqueues what has become due.
const BEAT: Duration = Duration::from_millis(20);

/// Enqueues the jobs that have become due, every [`BEAT`].
pub(super) async fn produce(
    driven: &impl Driven,
    production: Production,
    runs: &Runs,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Production {
        rate,
        lanes,
        failing,
    } = production;
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = tokio::time::Instant::now();
    let mut enqueued = 0;
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            _ = beats.tick() => {}
        }
        let elapsed = u64::try_from(begun.elapsed().as_millis()).context("a long time")?;
        let due = rate * elapsed / 1_000;
        let jobs: Vec<Placed> = (enqueued..due)
            .map(|n| {
                let mut placed = Placed::plain(n, n % lanes);
                placed.job.fails = n % failing == 0;
                placed
            })
            .collect();
        if !jobs.is_empty() {
            driven.enqueue(&jobs, Duration::ZERO).await?;
            runs.add_enqueued(due - enqueued);
            enqueued = due;
        }
    }
}
