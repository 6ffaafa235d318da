//! The time of the database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

/// The database's time. It is the same for all processes, while a machine's own clock may be wrong.
/// It is known from the last look of a [`Watch`](crate::Watch). Before the first look it is the
/// machine's time. All clones share one clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// How far the database's clock is ahead of this machine's, in microseconds.
    ahead: Arc<AtomicI64>,
}

impl Clock {
    /// Seconds since 1970.
    pub fn unix_seconds(&self) -> i64 {
        (machine_micros() + self.ahead.load(Ordering::Relaxed)).div_euclid(1_000_000)
    }

    /// Says how far the database's clock is ahead of this machine's, in microseconds.
    pub fn set_ahead(&self, micros: i64) {
        self.ahead.store(micros, Ordering::Relaxed);
    }
}

/// This machine's time, in microseconds since 1970.
pub(crate) fn machine_micros() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}
