//! A provider's limit on our requests: which requests wait after one was limited, and when they may
//! go on.
//!
//! Most limits count tokens: a long text is limited when a short one is not. So a limit holds back
//! requests by their size, from a quarter of the limited request's size upwards. Smaller requests
//! go on until one of them is limited, too. After the wait, one request at a time may try, under a
//! lease, until several in a row have passed. This is arithmetic on one row. The caller has locked
//! that row. Times are arguments.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::breaker::{Allowed, Right};

/// The shortest wait after a limit, whatever the provider says.
pub const SHORTEST: Duration = Duration::from_secs(1);
/// The longest wait that doubling leads to.
pub const LONGEST: Duration = Duration::from_mins(5);
/// Chance lengthens each wait by up to this share.
const JITTER: f64 = 0.2;
/// A request that is this many times smaller than the limited request is not held back.
const FACTOR: u32 = 4;
/// This many requests in a row must pass, one at a time, before requests of their size are free
/// again.
const PROVING: u32 = 3;

/// How large a request is, in bytes of what it shows to the provider. An image counts as the
/// largest size, because no provider prices images by their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u32);

impl Size {
    /// The size of an image.
    pub const IMAGE: Self = Self(i32::MAX.unsigned_abs());

    /// The size of a text of this many bytes.
    pub fn of_text(bytes: usize) -> Self {
        Self(u32::try_from(bytes).unwrap_or(u32::MAX)).min(Self::IMAGE)
    }
}

/// What is known about a limit. [`Throttle::default`] means that no limit is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttle {
    /// The size of the smallest request that is held back, in bytes.
    pub from_bytes: u32,
    /// How many times in a row it was met.
    pub met: u32,
    /// How many requests in a row have passed since.
    pub passed: u32,
    /// Until when requests are held back. After that, one at a time may try. `None` if nothing is
    /// held back.
    pub until: Option<DateTime<Utc>>,
    /// Until when the trying request may take; `None` if no request is trying.
    pub probe_until: Option<DateTime<Utc>>,
}

impl Throttle {
    /// Whether requests of this size are held back.
    pub fn holds(&self, size: Size) -> bool {
        self.until.is_some() && size.0 >= self.from_bytes
    }

    /// What a request of this size may do.
    pub fn allows(&self, size: Size, now: DateTime<Utc>) -> Allowed {
        let Some(until) = self.until.filter(|_| self.holds(size)) else {
            return Allowed::Asking;
        };
        match self.probe_until {
            _ if now < until => Allowed::Nothing(until),
            Some(probe) if now < probe => Allowed::Nothing(probe),
            Some(_) | None => Allowed::Probing,
        }
    }

    /// Lets a request of this size try, if it may. No other request tries before `lease` is over.
    pub fn probe(&mut self, size: Size, now: DateTime<Utc>, lease: Duration) -> Option<Right> {
        match self.allows(size, now) {
            Allowed::Probing => {
                let until = now + lease;
                self.probe_until = Some(until);
                Some(Right::Probe(until))
            }
            Allowed::Asking | Allowed::Nothing(_) => None,
        }
    }

    /// A request met the limit, and the provider `asked` for this wait. The actual wait is at least
    /// that, and at least a wait that doubles each time in a row, from [`SHORTEST`] to [`LONGEST`].
    /// `chance` (0 up to 1, uniform) lengthens it by up to a fifth, so that not all processes come
    /// back at once.
    pub fn met(
        &mut self,
        size: Size,
        right: Right,
        now: DateTime<Utc>,
        asked: Duration,
        chance: f64,
    ) {
        if self.until.is_some() && !self.holds(size) {
            // What is known concerns larger requests.
            *self = Self::default();
        } else if !self.counts(right) {
            // It was already sent when another request met the limit.
            self.until = self.until.map(|until| until.max(now + asked));
            return;
        }
        let from_bytes = size.0 / FACTOR;
        self.from_bytes = match self.until {
            None => from_bytes,
            Some(_) => self.from_bytes.min(from_bytes),
        };
        self.met = self.met.saturating_add(1);
        self.passed = 0;
        self.probe_until = None;
        // Beyond 2^20 every wait is longer than the longest.
        let steps = self.met.saturating_sub(1).min(20);
        let doubled = SHORTEST.saturating_mul(1 << steps).min(LONGEST);
        let wait = doubled
            .max(asked)
            .mul_f64(1.0 + JITTER * chance.clamp(0.0, 1.0));
        self.until = Some(now + wait);
    }

    /// A request passed. If it was already sent when another request met the limit, it says nothing
    /// about the present.
    pub fn passed(&mut self, size: Size, right: Right, now: DateTime<Utc>) {
        if !self.holds(size) || !self.counts(right) {
            return;
        }
        self.met = 0;
        self.passed += 1;
        self.until = Some(now);
        self.probe_until = None;
        if self.passed < PROVING {
            return;
        }
        // Much larger requests still have to try.
        let free = size.0.saturating_mul(FACTOR);
        *self = if free >= Size::IMAGE.0 {
            Self::default()
        } else {
            Self {
                from_bytes: free.max(self.from_bytes),
                passed: 0,
                ..*self
            }
        };
    }

    /// A trying request ended without showing anything about the limit. The next one may try.
    pub fn unknown(&mut self, right: Right) {
        if let Right::Probe(_) = right
            && self.counts(right)
        {
            self.probe_until = None;
        }
    }

    /// Whether a request that began with this right says anything about the present.
    fn counts(&self, right: Right) -> bool {
        match right {
            Right::Everybody => self.until.is_none(),
            Right::Probe(until) => self.probe_until == Some(until),
        }
    }
}

#[cfg(test)]
mod tests;
