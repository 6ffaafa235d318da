//! The retention of items beside submissions.

use std::{fmt, time::Instant};

use anyhow::{Context as _, ensure};
use serde::Serialize;

use super::installation::Installation;
use crate::{
    latency::Percentiles,
    load::{Ticks, ticks},
    verdicts::Sent,
};

/// How long a removal may take.
const LONGEST_SECONDS: u64 = 600;
/// The most that the p99 may be beside a removal: so many times the idle one, or so much more, whichever is more.
const TIMES: f64 = 2.0;
const MORE_MS: f64 = 25.0;

/// Submissions without and beside a removal.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Expired {
    /// How many items were removed.
    pub(super) removed: u64,
    pub(super) seconds: f64,
    /// Bytes of write-ahead log for each removed item, without those that the submissions wrote at the idle rate.
    pub(super) wal_bytes: f64,
    pub(super) idle: Times,
    pub(super) beside: Times,
}

/// Submissions, from when they were due to their answers and to their verdicts at the receiver.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Times {
    pub(super) submit: Percentiles,
    pub(super) way: Percentiles,
}

/// The most that a p99 may be beside a removal.
pub(super) fn most(idle_p99_ms: f64) -> f64 {
    (TIMES * idle_p99_ms).max(idle_p99_ms + MORE_MS)
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            removed,
            seconds,
            wal_bytes,
            idle,
            beside,
        } = self;
        write!(
            f,
            "{removed} items in {seconds:.1} s, {wal_bytes:.0} bytes of WAL each; submit idle {}, beside {}; to the webhook idle {}, \
             beside {}",
            idle.submit, beside.submit, idle.way, beside.way
        )
    }
}

/// Submits for a while, and then beside the removal of all items that are older than so many days, by `gatehouse admin
/// remove-expired`.
pub(super) async fn expire(installation: &mut Installation, days: u32) -> anyhow::Result<Expired> {
    let written = position(installation).await?;
    let begun = Instant::now();
    let idle = ticks(installation.paces.submissions, installation.paces.seconds);
    let sent = installation
        .submit(&Ticks::start(installation.paces.submissions, idle))
        .await?;
    let idle = times(installation, &sent).await?;
    let idle_bytes = (position(installation).await? - written) / begun.elapsed().as_secs_f64();

    sqlx::query("update sites set item_retention_days = $1, webhook_retention_days = least(webhook_retention_days, $1)")
        .bind(i32::try_from(days)?)
        .execute(&mut installation.conn)
        .await?;
    let written = position(installation).await?;
    let begun = Instant::now();
    let most = ticks(installation.paces.submissions, LONGEST_SECONDS);
    let load = Ticks::start(installation.paces.submissions, most);
    let gatehouse = installation.stack.gatehouse.clone();
    let removal = async {
        let removed = gatehouse.admin(&["remove-expired"]).await;
        let took = begun.elapsed();
        load.close().await;
        removed.map(|removed| (removed, took))
    };
    let ((removed, took), sent) = tokio::try_join!(removal, installation.submit(&load))?;
    let removed = removed["items"].as_u64().context("no number of items")?;
    ensure!(removed > 0, "nothing was removed");
    let all = position(installation).await? - written;
    let beside = times(installation, &sent).await?;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let wal_bytes = (all - idle_bytes * took.as_secs_f64()) / removed as f64;
    Ok(Expired {
        removed,
        seconds: took.as_secs_f64(),
        wal_bytes,
        idle,
        beside,
    })
}

async fn times(installation: &Installation, sent: &[Sent]) -> anyhow::Result<Times> {
    let (submit, way) = installation.times(sent).await?;
    Ok(Times { submit, way })
}

/// Bytes of write-ahead log since the beginning of the cluster.
async fn position(installation: &mut Installation) -> anyhow::Result<f64> {
    let position = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8";
    Ok(sqlx::query_scalar(position)
        .fetch_one(&mut installation.conn)
        .await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_may_grow_by_a_constant_and_long_ones_may_double() {
        assert!((most(10.0) - 35.0).abs() < f64::EPSILON);
        assert!((most(100.0) - 200.0).abs() < f64::EPSILON);
    }
}
