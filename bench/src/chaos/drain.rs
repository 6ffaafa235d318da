//! Waits until no work is left.

use std::time::{Duration, Instant};

use sqlx::Row as _;

use super::random_kills::RandomKills;
use crate::{cluster::Cluster, stack::Stack};

/// How often progress is printed.
pub(crate) const PROGRESS: Duration = Duration::from_secs(5);

/// Waits until no work is left. Returns how long that took, and what is left if it takes too long.
pub(crate) async fn drain(
    stack: &mut Stack,
    random_kills: &mut RandomKills,
    patience: Duration,
) -> anyhow::Result<(Duration, Option<String>)> {
    let start = Instant::now();
    let mut told = start;
    loop {
        let left = left(&stack.environment.cluster).await?;
        random_kills.watch(stack).await?;
        if left.pending == 0 && left.jobs == 0 {
            return Ok((start.elapsed(), None));
        }
        let words = format!(
            "{} items are pending, {} jobs are left",
            left.pending, left.jobs
        );
        if start.elapsed() > patience {
            return Ok((start.elapsed(), Some(words)));
        }
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            eprintln!("{words}");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

struct Left {
    pending: i64,
    jobs: i64,
}

async fn left(cluster: &Cluster) -> anyhow::Result<Left> {
    let row = sqlx::query(
        "
        select
            (select count(*) from media where status = 'pending') as pending,
            (select count(*) from queue.jobs) as jobs
        ",
    )
    .fetch_one(&mut cluster.connect().await?)
    .await?;
    Ok(Left {
        pending: row.get("pending"),
        jobs: row.get("jobs"),
    })
}
