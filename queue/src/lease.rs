//! The lease: this process's claims hold while its row in `queue.workers` is fresh.
//!
//! The local view is pessimistic: it counts from before a heartbeat was sent, and it is over before the
//! database says so. A job is never started on a claim that others may already have taken over.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sqlx::PgConnection;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{info, warn};
use uuid::Uuid;

use crate::{enqueue::millis, handle::Shared, link::Link, metrics};

#[derive(Debug)]
pub(crate) struct Lease {
    /// How long after a heartbeat jobs may still be started.
    valid_for: Duration,
    held: Mutex<Option<Held>>,
    renewed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// When the oldest heartbeat of the unbroken chain was sent.
    since: Instant,
    /// When the newest one was sent.
    until: Instant,
}

impl Lease {
    pub(crate) fn new(lease: Duration) -> Self {
        Self {
            valid_for: lease.mul_f64(0.8),
            held: Mutex::new(None),
            renewed: Notify::new(),
        }
    }

    /// Whether claims may be made and jobs started now.
    pub(crate) fn is_held(&self) -> bool {
        self.is_held_since(Instant::now())
    }

    /// Waits until claims may be made.
    pub(crate) async fn held(&self) {
        loop {
            // Before the look: what comes between the two is not missed.
            let renewed = self.renewed.notified();
            if self.is_held() {
                return;
            }
            renewed.await;
        }
    }

    /// Whether the lease was held without a break from then until now.
    pub(crate) fn is_held_since(&self, then: Instant) -> bool {
        let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_some_and(|held| held.since <= then && held.until.elapsed() < self.valid_for)
    }

    /// Notes a heartbeat that was sent then and has arrived.
    pub(crate) fn renew(&self, sent: Instant) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let unbroken = held.filter(|held| held.until.elapsed() < self.valid_for);
        *held = Some(Held {
            since: unbroken.map_or(sent, |held| held.since),
            until: sent,
        });
        drop(held);
        self.renewed.notify_waiters();
    }
}

#[cfg(test)]
impl Lease {
    /// As if nothing had been heard of the database for long.
    pub(crate) fn lapse(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Renews the lease until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut link = Link::new(&shared.pool);
    let mut ticks = interval(shared.config.heartbeat);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        // A heartbeat that hangs must not take the next ones with it.
        let patience = (shared.config.lease / 3).min(shared.config.deadline);
        while let Err(error) = renew(&shared, &mut link, patience).await {
            link.give_up();
            warn!(%error, "the heartbeat did not reach the database");
            if shared
                .pause(shared.config.heartbeat.min(Duration::from_millis(200)))
                .await
            {
                return;
            }
        }
    }
}

async fn renew(shared: &Shared, link: &mut Link, patience: Duration) -> Result<(), sqlx::Error> {
    let sent = Instant::now();
    let lease = shared.config.lease;
    timeout(patience, async {
        beat(link.get().await?, shared.worker, lease).await
    })
    .await
    .map_err(|_| database::late(patience))??;
    if !shared.lease.is_held() {
        info!(worker = %shared.worker, "the lease is held");
    }
    shared.lease.renew(sent);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    metrics::heartbeat(now);
    Ok(())
}

/// Shows that a worker lives; its claims hold for the length of the lease from now.
async fn beat(conn: &mut PgConnection, worker: Uuid, lease: Duration) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into queue.workers (id, expires_at)
         values ($1, now() + $2 * interval '1 millisecond')
         on conflict (id) do update set expires_at = excluded.expires_at",
    )
    .bind(worker)
    .bind(millis(lease))
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends a worker's lease: what it still holds may be rescued at once.
pub(crate) async fn surrender(conn: &mut PgConnection, worker: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query("delete from queue.workers where id = $1")
        .bind(worker)
        .execute(conn)
        .await?;
    Ok(())
}
