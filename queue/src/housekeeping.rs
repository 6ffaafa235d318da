//! What one process does for all: rescue, promotion of what came due late, retention, statistics, generations.
//!
//! The eldest living worker is elected, by the database's clock and without a vote: whoever finds itself first among the
//! rows of `queue.workers` that have not expired. A process that stalls may wake up and still believe it; so every duty
//! is safe when two processes do it at once, and nothing depends on there being only one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::PgConnection;
use tracing::{info, warn};

use crate::{
    dead,
    generations::{self, Collector},
    handle::Shared,
    promote, rescue,
    stats::Gauges,
};

/// How often dead jobs past their retention are deleted, how many at once, and how many at most each time.
const PURGE: Duration = Duration::from_mins(1);
const PURGED_AT_ONCE: u32 = 1000;
const PURGES: u32 = 20;
/// How often jobs are looked for where no claim looks.
const STRAYS: Duration = Duration::from_mins(1);

/// The duties, and when each is next due. They are due at once when a process is elected.
struct House {
    sweep: Every,
    stats: Every,
    purge: Every,
    strays: Every,
    collector: Collector,
    gauges: Gauges,
}

/// Keeps house until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut house: Option<House> = None;
    loop {
        match is_elected(&shared).await {
            Ok(true) => {
                let house = house.get_or_insert_with(|| {
                    info!(worker = %shared.worker, "this process keeps house for the queue");
                    House::new(&shared)
                });
                if let Err(error) = house.keep(&shared).await {
                    warn!(%error, "housekeeping was interrupted; going on with the next round");
                }
            }
            Ok(false) => house = None,
            Err(error) => warn!(%error, "cannot tell who keeps house"),
        }
        let wait = if house.is_some() || !shared.lease.is_held() {
            shared.config.tick
        } else {
            shared.config.sweep
        };
        if shared.pause(wait).await {
            return;
        }
    }
}

async fn is_elected(shared: &Shared) -> Result<bool, sqlx::Error> {
    if !shared.lease.is_held() {
        return Ok(false);
    }
    sqlx::query_scalar(
        "select id = $1 from queue.workers where expires_at > now() order by started_at, id limit 1",
    )
    .bind(shared.worker)
    .fetch_optional(&shared.pool)
    .await
    .map(|eldest| eldest.unwrap_or(false))
}

impl House {
    fn new(shared: &Shared) -> Self {
        Self {
            sweep: Every::new(shared.config.sweep),
            stats: Every::new(shared.config.stats),
            purge: Every::new(PURGE),
            strays: Every::new(STRAYS),
            collector: Collector::default(),
            gauges: Gauges::default(),
        }
    }

    /// One round of whatever is due.
    async fn keep(&mut self, shared: &Shared) -> Result<(), sqlx::Error> {
        let mut conn = shared.pool.acquire().await?;
        if self.sweep.is_due() {
            rescue::rescue(&mut conn, shared).await?;
            promote::promote_late(&mut conn, shared).await?;
            tidy(&mut conn).await?;
        }
        if self.strays.is_due() {
            let jobs = generations::gather_strays(&mut conn).await?;
            if jobs > 0 {
                warn!(
                    jobs,
                    "found jobs where no claim looks, and brought them back"
                );
                shared.wake_all_known();
            }
        }
        if self.collector.round(&mut conn).await? {
            shared.wake_all_known();
        }
        if self.stats.is_due() {
            self.gauges.publish(&mut conn, shared).await?;
        }
        if self.purge.is_due() {
            purge(&mut conn, shared.config.dead_retention).await?;
        }
        Ok(())
    }
}

/// Removes what says nothing any more: workers whose lease is over, and pauses that have ended.
async fn tidy(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("delete from queue.workers where expires_at <= now()")
        .execute(&mut *conn)
        .await?;
    sqlx::query("delete from queue.lanes where cap is null and paused_until <= now()")
        .execute(conn)
        .await?;
    Ok(())
}

async fn purge(conn: &mut PgConnection, age: Duration) -> Result<(), sqlx::Error> {
    for _ in 0..PURGES {
        let purged = dead::purge(conn, age, PURGED_AT_ONCE).await?;
        if purged > 0 {
            info!(jobs = purged, "deleted dead jobs past their retention");
        }
        if purged < u64::from(PURGED_AT_ONCE) {
            break;
        }
    }
    Ok(())
}

/// Something done at most once a period.
struct Every {
    period: Duration,
    last: Option<Instant>,
}

impl Every {
    const fn new(period: Duration) -> Self {
        Self { period, last: None }
    }

    /// Whether it is time; then the next period begins.
    fn is_due(&mut self) -> bool {
        let due = self.last.is_none_or(|last| last.elapsed() >= self.period);
        if due {
            self.last = Some(Instant::now());
        }
        due
    }
}

#[cfg(test)]
mod tests;
