//! When to try again: exponential, jittered waits. The only module that names the `backoff` crate.

use std::time::Duration;

use backoff::{ExponentialBackoff, backoff::Backoff};

/// How the waits between attempts grow: `initial * factor^(attempt - 1)`, capped, then jittered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The wait after the first failed attempt.
    pub initial: Duration,
    /// The factor of each further wait, at least 1.
    pub factor: f64,
    /// The longest wait, before jitter.
    pub max: Duration,
    /// Chance shortens or lengthens a wait by up to this share: 0.2 is ±20 %.
    pub jitter: f64,
}

impl Default for Retry {
    /// 1 s, doubling up to an hour, ±20 %: 25 attempts take about half a day.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            factor: 2.0,
            max: Duration::from_hours(1),
            jitter: 0.2,
        }
    }
}

impl Retry {
    /// For our own statements while the database is away: from 20 ms to 1 s.
    pub(crate) const OUTAGE: Self = Self {
        initial: Duration::from_millis(20),
        factor: 2.0,
        max: Duration::from_secs(1),
        jitter: 0.5,
    };

    /// For jobs that failed through no fault of their own, however often: 1 to 5 s.
    pub(crate) const POSTPONED: Self = Self {
        initial: Duration::from_secs(3),
        factor: 1.0,
        max: Duration::from_secs(3),
        jitter: 0.66,
    };

    /// What is wrong with these numbers, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.factor >= 1.0 && self.factor.is_finite()) {
            return Err(format!("factor is {}; it must be 1 or more", self.factor));
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(format!("jitter is {}; it may be 0 to 1", self.jitter));
        }
        if self.max > Duration::from_hours(24 * 366) {
            return Err(format!("max is {:?}, more than a year", self.max));
        }
        if self.max < self.initial {
            return Err(format!(
                "max is {:?}, less than initial, {:?}",
                self.max, self.initial
            ));
        }
        Ok(())
    }

    /// How long to wait after the given failed attempt, counted from 1.
    pub fn delay(&self, attempt: u16) -> Duration {
        let growth = self.factor.max(1.0).powi(i32::from(attempt.max(1)) - 1);
        let longest = self.max.as_secs_f64();
        let interval = (self.initial.as_secs_f64() * growth).min(longest);
        let mut backoff = ExponentialBackoff {
            current_interval: Duration::from_secs_f64(interval),
            randomization_factor: self.jitter.clamp(0.0, 1.0),
            max_interval: self.max,
            // The default gives up for good after 15 minutes.
            max_elapsed_time: None,
            ..ExponentialBackoff::default()
        };
        backoff.next_backoff().unwrap_or(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEBHOOKS: Retry = Retry {
        initial: Duration::from_secs(5),
        factor: 4.0,
        max: Duration::from_hours(10),
        jitter: 0.2,
    };

    #[test]
    fn waits_grow_by_the_factor_up_to_the_cap_within_the_jitter() {
        for (attempt, expected) in [(1, 5.0), (2, 20.0), (3, 80.0), (6, 5120.0), (8, 36_000.0)] {
            for _ in 0..200 {
                let wait = WEBHOOKS.delay(attempt).as_secs_f64();
                assert!(
                    (expected * 0.799..=expected * 1.201).contains(&wait),
                    "{attempt}: {wait}"
                );
            }
        }
    }

    #[test]
    fn no_attempt_is_too_late_for_a_wait() {
        assert!(WEBHOOKS.delay(u16::MAX) >= Duration::from_hours(8));
        assert!(WEBHOOKS.delay(0) <= Duration::from_secs(6));
    }

    #[test]
    fn chance_spreads_the_waits() {
        let waits: std::collections::HashSet<_> = (0..50).map(|_| WEBHOOKS.delay(3)).collect();
        assert!(waits.len() > 40);
    }
}
