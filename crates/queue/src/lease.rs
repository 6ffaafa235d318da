//! The lease: this process's claims are valid while its row in `queue.workers` is fresh.
//!
//! The local view is pessimistic: it counts from before a heartbeat was sent, and ends before the
//! database says so. A job is never started on a claim that others may already have taken over.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::lock::lock;

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
            // Registered before the check, so that a renewal between the two is not missed.
            let renewed = self.renewed.notified();
            if self.is_held() {
                return;
            }
            renewed.await;
        }
    }

    /// Whether the lease was held without a break from then until now.
    pub(crate) fn is_held_since(&self, then: Instant) -> bool {
        let held = *lock(&self.held);
        held.is_some_and(|held| held.since <= then && held.until.elapsed() < self.valid_for)
    }

    /// Records a heartbeat that was sent at this time and has arrived.
    pub(crate) fn renew(&self, sent: Instant) {
        let mut held = lock(&self.held);
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
    /// Acts as if nothing had been heard of the database for long.
    pub(crate) fn lapse(&self) {
        *lock(&self.held) = None;
    }
}
