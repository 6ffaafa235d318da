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
mod tests;
