//! How long nothing happened.

use std::time::{Duration, Instant};

/// What is accepted, and what is decided.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) accepted: Steps,
    pub(super) decided: Steps,
    pub(super) restarts: usize,
}

impl Progress {
    pub(super) fn begin() -> Self {
        Self {
            accepted: Steps::begin(),
            decided: Steps::begin(),
            restarts: 0,
        }
    }

    /// Postgres runs again. Nobody could do anything meanwhile.
    pub(super) fn restarted(&mut self) {
        self.restarts += 1;
        self.accepted.last = Instant::now();
        self.decided.last = Instant::now();
    }

    /// How many are accepted and decided now.
    pub(super) fn look(&mut self, accepted: u64, decided: u64) {
        self.accepted.look(accepted);
        self.decided.look(decided);
    }
}

/// A number that should grow.
#[derive(Debug)]
pub(super) struct Steps {
    number: u64,
    last: Instant,
    longest: Duration,
}

impl Steps {
    fn begin() -> Self {
        Self {
            number: 0,
            last: Instant::now(),
            longest: Duration::ZERO,
        }
    }

    fn look(&mut self, number: u64) {
        self.longest = self.longest.max(self.last.elapsed());
        if number > self.number {
            self.number = number;
            self.last = Instant::now();
        }
    }

    /// The longest time in which it did not grow, in seconds.
    pub(super) fn longest(&self) -> f64 {
        self.longest.as_secs_f64()
    }
}
