//! A circuit breaker. It decides when requests to a failing receiver stop, and how one request
//! tests whether the receiver works again.
//!
//! Failures in a row open it. A refusal that every other call would also get opens it at once.
//! While it is open, nobody asks. When its time is over, one process may ask, under a lease:
//! success closes the breaker, failure opens it again for longer. All of this is arithmetic on one
//! row. The caller has locked that row. Times are arguments.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::media::named_set;

/// When a breaker opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakerSettings {
    /// Failures in a row that open it; at least 1.
    pub failures: u32,
    /// How long it stays open the first time. Each failed probe doubles the time.
    pub first: Duration,
    /// The longest time that it stays open.
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

/// Chance shortens or lengthens each wait by up to this share.
const JITTER: f64 = 0.2;

/// The state of a breaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    /// Failures since the last success.
    pub failures: u32,
    /// How often it opened since it was last closed.
    pub openings: u32,
    /// Until when nobody asks; `None` while it is closed.
    pub open_until: Option<DateTime<Utc>>,
    /// Until when the current probe may take; `None` if there is no probe.
    pub probe_until: Option<DateTime<Utc>>,
}

/// What a breaker allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Requests are allowed.
    Asking,
    /// One request is allowed, for the caller that takes the [probe](Breaker::probe).
    Probing,
    /// Nothing is allowed before this time.
    Nothing(DateTime<Utc>),
}

named_set! {
    /// A breaker's state, as its owner is told.
    BreakerState {
        /// Requests are sent.
        Closed = "closed",
        /// Nothing is sent.
        Open = "open",
        /// One request tests whether the receiver works again.
        HalfOpen = "half_open",
    }
}

/// The right by which a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// The breaker was closed.
    Everybody,
    /// The request is the probe, whose lease ends at this time.
    Probe(DateTime<Utc>),
}

impl Breaker {
    /// What the breaker allows now.
    pub fn allows(&self, now: DateTime<Utc>) -> Allowed {
        match (self.open_until, self.probe_until) {
            (None, _) => Allowed::Asking,
            (Some(open), _) if now < open => Allowed::Nothing(open),
            (Some(_), Some(probe)) if now < probe => Allowed::Nothing(probe),
            (Some(_), _) => Allowed::Probing,
        }
    }

    /// Its state now.
    pub fn state(&self, now: DateTime<Utc>) -> BreakerState {
        match self.open_until {
            None => BreakerState::Closed,
            Some(open) if now < open => BreakerState::Open,
            Some(_) => BreakerState::HalfOpen,
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

    /// A call succeeded. A call that began before the breaker opened says nothing about the
    /// present.
    pub fn succeeded(&mut self, right: Right) {
        if self.counts(right) {
            *self = Self::default();
        }
    }

    /// A call failed. `chance` (0 up to 1, uniform) spreads the wait by a fifth, so that waiting
    /// processes do not all come back at once.
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

    /// A call was refused for a reason that concerns all calls, such as a wrong key. The next calls
    /// would be refused, too.
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

    /// Whether the outcome of a call with this right changes anything. While the breaker is open,
    /// only its probe does.
    fn counts(&self, right: Right) -> bool {
        match right {
            Right::Everybody => self.open_until.is_none(),
            Right::Probe(until) => self.probe_until == Some(until),
        }
    }
}

/// How long the breaker stays open when it opens for the `opening`th time in a row, counted from 1.
fn wait(opening: u32, chance: f64, settings: &BreakerSettings) -> Duration {
    // Beyond 2^20, every sensible first wait exceeds every sensible longest wait.
    let steps = opening.saturating_sub(1).min(20);
    let wait = settings
        .first
        .saturating_mul(1 << steps)
        .min(settings.longest);
    wait.mul_f64(1.0 + JITTER * (2.0 * chance.clamp(0.0, 1.0) - 1.0))
}

#[cfg(test)]
mod tests;
