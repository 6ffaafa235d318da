//! Who may ask a provider, by the state that all workers share.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    breaker::{Allowed, Right},
    throttle::Size,
};
use store::provider::State;

/// The longest that others wait for a request that tests whether a limit has passed.
const OTHERS: Duration = Duration::from_secs(5);

/// The rights of a request: one from the breaker and one from the limit.
#[derive(Clone, Copy)]
pub(super) struct Permits {
    pub(super) breaker: Right,
    pub(super) limit: Right,
}

impl Permits {
    pub(super) const EVERYBODY: Self = Self {
        breaker: Right::Everybody,
        limit: Right::Everybody,
    };
}

/// Who may send a request of some size.
pub(super) enum Verdict {
    Everybody,
    /// One request alone, to test the provider.
    OneAlone,
    /// Nobody, for this time.
    Nobody(Duration),
}

pub(super) fn allowed(state: &State, size: Size, now: DateTime<Utc>) -> Verdict {
    if let Some(wait) = closed_for(state, size, now) {
        return Verdict::Nobody(wait);
    }
    let allowed = [state.breaker.allows(now), state.throttle.allows(size, now)];
    if allowed.contains(&Allowed::Probing) {
        Verdict::OneAlone
    } else {
        Verdict::Everybody
    }
}

/// Takes the right to test the provider, from the breaker, the limit, or both.
pub(super) fn take(state: &mut State, size: Size, now: DateTime<Utc>, lease: Duration) -> Permits {
    let (breaker, throttle) = (&mut state.breaker, &mut state.throttle);
    Permits {
        breaker: breaker.probe(now, lease).unwrap_or(Right::Everybody),
        limit: throttle.probe(size, now, lease).unwrap_or(Right::Everybody),
    }
}

/// How long nobody may send a request of this size. None if at least one request may be sent.
pub(super) fn closed_for(state: &State, size: Size, now: DateTime<Utc>) -> Option<Duration> {
    let until = |allowed| match allowed {
        Allowed::Nothing(until) => Some(until),
        Allowed::Asking | Allowed::Probing => None,
    };
    let limited = until(state.throttle.allows(size, now)).map(|until| {
        // A test usually ends long before its lease.
        if state.throttle.probe_until.is_some() {
            until.min(now + OTHERS)
        } else {
            until
        }
    });
    let paused = state.paused_until.max(until(state.breaker.allows(now)));
    let until = paused.max(limited)?;
    (until - now).to_std().ok().filter(|wait| !wait.is_zero())
}
