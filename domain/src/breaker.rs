//! A circuit breaker: when requests to a receiver that keeps failing stop, and how one request tests whether it works again.
//!
//! Failures in a row open it; a refusal that no other call would escape opens it at once. While it is open nobody asks. When its time is over, one process alone may ask, under a lease:
//! success closes the breaker, failure opens it again for longer. All of this is arithmetic on one row, which whoever
//! changes it has locked; times come in as arguments.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// When a breaker opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakerSettings {
    /// Failures in a row that open it; at least 1.
    pub failures: u32,
    /// How long it is open the first time; each failed probe doubles that.
    pub first: Duration,
    /// The longest that it is open at a time.
    pub longest: Duration,
}

impl Default for BreakerSettings {
    /// Five failures, then 5 s, 10 s, ... up to five minutes.
    fn default() -> Self {
        Self {
            failures: 5,
            first: Duration::from_secs(5),
            longest: Duration::from_mins(5),
        }
    }
}

/// The share of a wait by which chance shortens or lengthens it.
const JITTER: f64 = 0.2;

/// The state of a breaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    /// Failures since the last success.
    pub failures: u32,
    /// How often it opened since it was last closed.
    pub openings: u32,
    /// Until when nobody asks; none while it is closed.
    pub open_until: Option<DateTime<Utc>>,
    /// Until when the probe that is under way may take; none when there is none.
    pub probe_until: Option<DateTime<Utc>>,
}

/// What a breaker allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// To ask.
    Asking,
    /// To ask once, for whoever takes the [probe](Breaker::probe).
    Probing,
    /// Nothing before this time.
    Nothing(DateTime<Utc>),
}

/// With what right somebody asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// The breaker was closed.
    Everybody,
    /// It was the probe whose lease ends then.
    Probe(DateTime<Utc>),
}

impl Breaker {
    /// What it allows now.
    pub fn allows(&self, now: DateTime<Utc>) -> Allowed {
        match (self.open_until, self.probe_until) {
            (None, _) => Allowed::Asking,
            (Some(open), _) if now < open => Allowed::Nothing(open),
            (Some(_), Some(probe)) if now < probe => Allowed::Nothing(probe),
            (Some(_), _) => Allowed::Probing,
        }
    }

    /// Takes the probe if it is free. Nobody else gets it before `lease` is over.
    pub fn probe(&mut self, now: DateTime<Utc>, lease: Duration) -> Option<Right> {
        match self.allows(now) {
            Allowed::Probing => {
                let until = now + lease;
                self.probe_until = Some(until);
                Some(Right::Probe(until))
            }
            Allowed::Asking | Allowed::Nothing(_) => None,
        }
    }

    /// A call went well. One that began before the breaker opened says nothing about now.
    pub fn succeeded(&mut self, right: Right) {
        if self.counts(right) {
            *self = Self::default();
        }
    }

    /// A call failed; `chance` (0 up to 1, uniform) spreads the wait by a fifth, so that not all come back at once.
    pub fn failed(
        &mut self,
        right: Right,
        now: DateTime<Utc>,
        chance: f64,
        settings: &BreakerSettings,
    ) {
        if !self.counts(right) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        self.probe_until = None;
        if self.open_until.is_some() || self.failures >= settings.failures {
            self.openings = self.openings.saturating_add(1);
            self.open_until = Some(now + wait(self.openings, chance, settings));
        }
    }

    /// A call was refused for a reason that is not its own, such as a wrong key: the next ones would be, too.
    pub fn denied(
        &mut self,
        right: Right,
        now: DateTime<Utc>,
        chance: f64,
        settings: &BreakerSettings,
    ) {
        if self.counts(right) {
            self.failures = self.failures.max(settings.failures.saturating_sub(1));
            self.failed(right, now, chance, settings);
        }
    }

    /// Whether the outcome of a call with this right changes anything: while the breaker is open, only its probe does.
    fn counts(&self, right: Right) -> bool {
        match right {
            Right::Everybody => self.open_until.is_none(),
            Right::Probe(until) => self.probe_until == Some(until),
        }
    }
}

/// How long the breaker is open for the `opening`th time in a row, counted from 1.
fn wait(opening: u32, chance: f64, settings: &BreakerSettings) -> Duration {
    // Beyond 2^20 every sensible first wait is over every sensible longest one.
    let steps = opening.saturating_sub(1).min(20);
    let wait = settings
        .first
        .saturating_mul(1 << steps)
        .min(settings.longest);
    wait.mul_f64(1.0 + JITTER * (2.0 * chance.clamp(0.0, 1.0) - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: BreakerSettings = BreakerSettings {
        failures: 3,
        first: Duration::from_secs(10),
        longest: Duration::from_secs(35),
    };
    const LEASE: Duration = Duration::from_secs(4);

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn fail(breaker: &mut Breaker, right: Right, seconds: i64) {
        breaker.failed(right, at(seconds), 0.5, &SETTINGS);
    }

    /// One that opened at second 0.
    fn open() -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            fail(&mut breaker, Right::Everybody, 0);
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_among_them_does_not() {
        let mut breaker = Breaker::default();
        for _ in 0..5 {
            fail(&mut breaker, Right::Everybody, 0);
            fail(&mut breaker, Right::Everybody, 0);
            assert_eq!(breaker.allows(at(0)), Allowed::Asking);
            breaker.succeeded(Right::Everybody);
        }
        assert_eq!(open().allows(at(0)), Allowed::Nothing(at(10)));
        assert_eq!(open().allows(at(9)), Allowed::Nothing(at(10)));
        assert_eq!(open().allows(at(10)), Allowed::Probing);
    }

    #[test]
    fn one_refusal_of_all_calls_opens_it() {
        let mut breaker = Breaker::default();
        breaker.denied(Right::Everybody, at(0), 0.5, &SETTINGS);
        assert_eq!(breaker.allows(at(0)), Allowed::Nothing(at(10)));
        let probe = breaker.probe(at(10), LEASE).unwrap();
        breaker.denied(probe, at(10), 0.5, &SETTINGS);
        assert_eq!(breaker.allows(at(10)), Allowed::Nothing(at(30)));
    }

    #[test]
    fn one_alone_probes_until_its_lease_is_over() {
        let mut breaker = open();
        assert_eq!(breaker.probe(at(9), LEASE), None);
        assert_eq!(breaker.probe(at(11), LEASE), Some(Right::Probe(at(15))));
        assert_eq!(breaker.probe(at(12), LEASE), None);
        assert_eq!(breaker.allows(at(12)), Allowed::Nothing(at(15)));
        assert_eq!(breaker.probe(at(15), LEASE), Some(Right::Probe(at(19))));
    }

    #[test]
    fn a_probe_that_succeeds_closes_it_and_one_that_fails_doubles_the_wait_up_to_the_longest() {
        let mut breaker = open();
        let mut now = 10;
        for wait in [20, 35, 35] {
            let probe = breaker.probe(at(now), LEASE).unwrap();
            fail(&mut breaker, probe, now);
            assert_eq!(breaker.allows(at(now)), Allowed::Nothing(at(now + wait)));
            now += wait;
        }
        let probe = breaker.probe(at(now), LEASE).unwrap();
        breaker.succeeded(probe);
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn calls_that_began_before_it_opened_change_nothing() {
        let mut breaker = open();
        breaker.succeeded(Right::Everybody);
        fail(&mut breaker, Right::Everybody, 5);
        assert_eq!(breaker, open());
        let late = breaker.probe(at(10), LEASE).unwrap();
        let current = breaker.probe(at(14), LEASE).unwrap();
        let probing = breaker;
        breaker.succeeded(late);
        fail(&mut breaker, late, 15);
        assert_eq!(breaker, probing);
        breaker.succeeded(current);
        assert_eq!(breaker.allows(at(15)), Allowed::Asking);
    }

    #[test]
    fn chance_spreads_the_wait_and_no_number_is_too_large() {
        let mut breaker = open();
        breaker.openings = u32::MAX;
        let probe = breaker.probe(at(10), LEASE).unwrap();
        breaker.failed(probe, at(10), 0.0, &SETTINGS);
        assert_eq!(breaker.allows(at(10)), Allowed::Nothing(at(38)));
        let probe = breaker.probe(at(38), LEASE).unwrap();
        breaker.failed(probe, at(38), 1.0, &SETTINGS);
        assert_eq!(breaker.allows(at(38)), Allowed::Nothing(at(80)));
    }
}
