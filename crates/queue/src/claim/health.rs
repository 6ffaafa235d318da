//! Whether the claims of a backend work, are slow or meet caps, and what holds its jobs back now.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;
use sqlx::PgPool;

use super::Claimer;
use crate::{Bottleneck, lock::lock};

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
        *lock(&self.asked) = Some(Instant::now());
    }

    pub(super) fn answered(&self, worked: bool) {
        *lock(&self.asked) = None;
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

    fn fails(&self) -> bool {
        self.fails.load(Relaxed)
    }

    fn is_slow(&self) -> bool {
        lock(&self.asked).is_some_and(|asked| asked.elapsed() > SLOW)
    }

    fn is_capped(&self) -> bool {
        self.is_capped.load(Relaxed)
    }
}

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// The first that applies. Without claims, nothing else is known. Jobs that wait for a provider
    /// occupy slots, so slots do not count then. Caps and receivers hold back only some lanes, so
    /// they come last.
    pub(super) fn held_back_by(&self) -> Option<Bottleneck> {
        let (shared, queue) = (&self.shared, self.settings.queue);
        let says = |bound| shared.waits.any(queue, bound);
        if self.stop.is_cancelled() {
            return None;
        }
        if self.health.fails() || !shared.lease.is_held() {
            return Some(Bottleneck::Database);
        }
        if says(Bottleneck::ProviderLimit) {
            return Some(Bottleneck::ProviderLimit);
        }
        let of_slots = self.buffer.bottleneck().or_else(|| {
            let mut of_handlers = [Bottleneck::Slots, Bottleneck::TeamShare].into_iter();
            of_handlers.find(|bound| says(*bound))
        });
        match of_slots {
            // With more slots, more jobs would wait for a connection.
            Some(_) if is_used_up(&shared.pool) => Some(Bottleneck::Database),
            Some(bound) => Some(bound),
            None if self.health.is_slow() => Some(Bottleneck::Database),
            None if self.health.is_capped() => Some(Bottleneck::Cap),
            None => says(Bottleneck::EndpointPace).then_some(Bottleneck::EndpointPace),
        }
    }
}

fn is_used_up(pool: &PgPool) -> bool {
    pool.num_idle() == 0 && pool.size() >= pool.options().get_max_connections()
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
