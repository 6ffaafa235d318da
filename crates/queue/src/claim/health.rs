//! Whether the claims of a backend work, are slow or meet caps, for those who ask what holds its jobs back.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// A claim that takes longer is slow. Most take some milliseconds.
const SLOW: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub(crate) struct Health {
    /// When the claim began that is under way.
    asked: Mutex<Option<Instant>>,
    /// The last claim failed.
    fails: AtomicBool,
    /// Jobs wait because their lane or group has as many as its cap allows.
    is_capped: AtomicBool,
}

impl Health {
    pub(super) fn asks(&self) {
        *self.lock() = Some(Instant::now());
    }

    pub(super) fn answered(&self, worked: bool) {
        *self.lock() = None;
        self.fails.store(!worked, Relaxed);
    }

    /// A claim met a cap or not. If it took jobs up to the cap and left none behind, then nothing
    /// new is known: a claim does not say whether more jobs wait.
    pub(super) fn saw(&self, capped: bool, got: usize, visited: i32) {
        let left = usize::try_from(visited).is_ok_and(|visited| visited > got);
        if !capped || got == 0 || left {
            self.is_capped.store(capped, Relaxed);
        }
    }

    pub(super) fn fails(&self) -> bool {
        self.fails.load(Relaxed)
    }

    pub(super) fn is_slow(&self) -> bool {
        self.lock().is_some_and(|asked| asked.elapsed() > SLOW)
    }

    pub(super) fn is_capped(&self) -> bool {
        self.is_capped.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_that_was_just_reached_says_nothing_about_jobs_that_wait() {
        let health = Health::default();
        health.saw(true, 3, 3);
        assert!(!health.is_capped());
        health.saw(true, 3, 4);
        assert!(health.is_capped(), "one is left behind");
        health.saw(true, 1, 1);
        assert!(health.is_capped(), "others may still wait");
        health.saw(false, 0, 0);
        assert!(!health.is_capped());
        health.saw(true, 0, 1);
        assert!(health.is_capped());
    }

    #[test]
    fn a_claim_that_failed_counts_until_one_works() {
        let health = Health::default();
        health.asks();
        assert!(!health.is_slow(), "it has just begun");
        health.answered(false);
        health.asks();
        assert!(health.fails());
        health.answered(true);
        assert!(!health.fails());
    }
}
