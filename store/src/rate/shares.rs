//! What a process holds of each window, and what it knows of the rest.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::limit::{RateWindow, WINDOW_SECONDS};
use tokio::time::Instant;

use super::Limited;

/// How long a key that has nothing left is refused without asking Postgres: it may have been disabled meanwhile, and what
/// a process held that did not answer may have come back.
const SURE: Duration = Duration::from_secs(1);

/// The shares of this process. Those of past minutes are forgotten once a minute, so there are never more than keys that
/// were used in two.
#[derive(Default)]
pub(super) struct Shares(Mutex<Held>);

#[derive(Default)]
struct Held {
    shares: HashMap<Limited, Share>,
    sweep_at: Option<Instant>,
}

/// A part of a window.
#[derive(Clone, Copy, Debug)]
struct Share {
    expires: Instant,
    limit: u32,
    left: u32,
    /// What nobody had been given when Postgres was asked last.
    rest: u32,
    /// Until when it is certain that nothing is left anywhere.
    spent_until: Option<Instant>,
}

/// What [`Shares::spend`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// The request is paid for.
    One(RateWindow),
    /// Nothing is left anywhere.
    Nothing(RateWindow),
    /// Only Postgres knows.
    Unknown,
}

impl Shares {
    /// Pays for one request.
    pub(super) fn spend(&self, limited: Limited, now: Instant) -> Spent {
        let mut held = self.lock();
        let Some(share) = held
            .shares
            .get_mut(&limited)
            .filter(|share| share.expires > now)
        else {
            return Spent::Unknown;
        };
        if share.left > 0 {
            share.left -= 1;
            return Spent::One(share.window(limited, now));
        }
        match share.spent_until {
            Some(until) if until > now => Spent::Nothing(share.window(limited, now)),
            Some(_) | None => Spent::Unknown,
        }
    }

    /// Keeps what Postgres gave beyond what was needed at once. `rest` is what nobody has been given.
    pub(super) fn put(
        &self,
        limited: Limited,
        left: u32,
        limit: u32,
        rest: u32,
        expires: Instant,
    ) -> RateWindow {
        let now = Instant::now();
        let mut held = self.lock();
        held.sweep(now);
        let share = Share {
            expires,
            limit,
            left,
            rest,
            spent_until: None,
        };
        held.shares.insert(limited, share);
        share.window(limited, now)
    }

    /// Remembers that nothing is left anywhere of the window that was asked for last, which is returned.
    pub(super) fn exhaust(&self, limited: Limited, now: Instant) -> Option<RateWindow> {
        let mut held = self.lock();
        let share = held.shares.get_mut(&limited)?;
        share.spent_until = Some(now + SURE);
        Some(share.window(limited, now))
    }

    /// Hands over what is unspent.
    pub(super) fn surrender(&self, limited: Limited, now: Instant) -> u32 {
        match self.lock().shares.get_mut(&limited) {
            Some(share) if share.expires > now => std::mem::take(&mut share.left),
            Some(_) | None => 0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn sweep(&mut self, now: Instant) {
        if self.sweep_at.is_none_or(|at| at <= now) {
            self.shares.retain(|_, share| share.expires > now);
            self.sweep_at = Some(now + Duration::from_secs(WINDOW_SECONDS.into()));
        }
    }
}

impl Share {
    fn window(&self, (_, policy): Limited, now: Instant) -> RateWindow {
        let seconds = self
            .expires
            .saturating_duration_since(now)
            .as_secs_f64()
            .ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the length of a window"
        )]
        let resets_in = (seconds as u32).max(1);
        RateWindow {
            policy,
            limit: self.limit,
            remaining: self.left + self.rest,
            resets_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{key::SecretHash, limit::RatePolicy};

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn limited() -> Limited {
        (SecretHash::from([1; 32]), RatePolicy::Submit)
    }

    #[test]
    fn a_share_is_spent_once_and_not_beyond_its_minute() {
        let (shares, now) = (Shares::default(), Instant::now());
        assert_eq!(shares.spend(limited(), now), Spent::Unknown);
        shares.put(limited(), 2, 10, 5, now + MINUTE);
        let one = |remaining| {
            Spent::One(RateWindow {
                policy: RatePolicy::Submit,
                limit: 10,
                remaining,
                resets_in: 60,
            })
        };
        assert_eq!(shares.spend(limited(), now), one(6));
        assert_eq!(shares.spend(limited(), now + MINUTE), Spent::Unknown);
        assert_eq!(shares.spend(limited(), now), one(5));
        assert_eq!(shares.spend(limited(), now), Spent::Unknown);
    }

    #[test]
    fn another_policy_has_its_own_share() {
        let (shares, now) = (Shares::default(), Instant::now());
        shares.put(limited(), 1, 10, 0, now + MINUTE);
        let status = (limited().0, RatePolicy::Status);
        assert_eq!(shares.spend(status, now), Spent::Unknown);
    }

    #[test]
    fn what_is_surrendered_cannot_be_spent() {
        let (shares, now) = (Shares::default(), Instant::now());
        shares.put(limited(), 7, 10, 0, now + MINUTE);
        assert_eq!(shares.surrender(limited(), now), 7);
        assert_eq!(shares.surrender(limited(), now), 0);
        assert_eq!(shares.spend(limited(), now), Spent::Unknown);
    }

    #[test]
    fn a_spent_window_is_refused_unasked_for_a_moment() {
        let (shares, now) = (Shares::default(), Instant::now());
        shares.put(limited(), 0, 10, 0, now + MINUTE);
        shares.exhaust(limited(), now);
        assert!(matches!(
            shares.spend(limited(), now),
            Spent::Nothing(RateWindow { remaining: 0, .. })
        ));
        assert_eq!(shares.spend(limited(), now + SURE), Spent::Unknown);
    }

    #[test]
    fn shares_of_past_minutes_are_forgotten() {
        let (shares, now) = (Shares::default(), Instant::now());
        for n in 0..100 {
            let limited = (SecretHash::from([n; 32]), RatePolicy::Submit);
            shares.put(limited, 1, 10, 0, now);
        }
        shares.lock().sweep_at = None;
        shares.put(limited(), 1, 10, 0, now + MINUTE);
        assert_eq!(shares.lock().shares.len(), 1);
    }
}
