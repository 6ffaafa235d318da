//! An endpoint's delivery health: a circuit breaker for an endpoint that keeps failing, and when a
//! dead one is disabled.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::breaker::{Breaker, BreakerSettings, Right};

/// How long an endpoint may fail without one success before it is disabled.
pub const DEAD_AFTER: Duration = Duration::from_hours(5 * 24);

/// Ten failures in a row, then 5 s, 10 s, ... up to five minutes. Deliveries that wait in the
/// meantime are not charged an attempt.
pub const BREAKER: BreakerSettings = BreakerSettings {
    failures: 10,
    first: Duration::from_secs(5),
    longest: Duration::from_mins(5),
};

/// The health of an endpoint. An endpoint without a record is well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// Whether it is paused.
    pub breaker: Breaker,
    /// Its first failure since its last success; `None` if its last attempt succeeded.
    pub failing_since: Option<DateTime<Utc>>,
}

impl Health {
    /// Whether there is no problem on record, so that a success changes nothing.
    pub fn is_well(&self) -> bool {
        *self == Self::default()
    }

    /// An attempt succeeded.
    pub fn succeeded(&mut self, right: Right) {
        self.breaker.succeeded(right);
        self.failing_since = None;
    }

    /// An attempt failed; `chance` (0 up to 1, uniform) spreads the breaker's waits.
    pub fn failed(&mut self, right: Right, now: DateTime<Utc>, chance: f64) {
        self.breaker.failed(right, now, chance, &BREAKER);
        self.failing_since.get_or_insert(now);
    }

    /// Whether it has failed for so long that it must be disabled.
    pub fn is_dead(&self, now: DateTime<Utc>) -> bool {
        self.failing_since
            .is_some_and(|since| (now - since).to_std().is_ok_and(|age| age >= DEAD_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3600;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn five_days_of_failures_are_its_death_and_one_success_among_them_is_not() {
        let mut health = Health::default();
        for day in 0..5 {
            health.failed(Right::Everybody, at(day * DAY), 0.5);
            assert!(!health.is_dead(at(day * DAY)), "day {day}");
        }
        assert!(!health.is_dead(at(5 * DAY - 1)));
        assert!(health.is_dead(at(5 * DAY)));

        health.succeeded(Right::Everybody);
        assert!(!health.is_dead(at(5 * DAY)));
        health.failed(Right::Everybody, at(5 * DAY), 0.5);
        assert!(!health.is_dead(at(9 * DAY)));
    }

    #[test]
    fn a_success_that_began_before_the_breaker_opened_ends_the_failing_and_leaves_the_breaker_to_its_probe()
     {
        let mut health = Health::default();
        for _ in 0..BREAKER.failures {
            health.failed(Right::Everybody, at(0), 0.5);
        }
        assert_eq!(health.breaker.open_until, Some(at(5)));
        health.succeeded(Right::Everybody);
        assert_eq!(health.failing_since, None);
        assert!(!health.is_well());
        let probe = health
            .breaker
            .probe(at(5), Duration::from_secs(20))
            .unwrap();
        health.succeeded(probe);
        assert!(health.is_well());
    }
}
