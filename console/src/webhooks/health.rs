//! An endpoint's state and delivery health, in words.

use chrono::{DateTime, Utc};
use domain::breaker::{Allowed, BreakerState};
use management::endpoints::Endpoint;

/// Deliveries that are looked at to count those that wait.
const COUNTED: i64 = 1_000;

/// An endpoint's state and delivery health.
pub(super) struct Health {
    /// `ok`, `warn` or `no`.
    pub(super) tone: &'static str,
    /// Its state in a word.
    pub(super) word: &'static str,
    pub(super) is_failing: bool,
    pub(super) is_disabled: bool,
    /// Since when it fails or is disabled.
    pub(super) since: Option<DateTime<Utc>>,
    /// Why it is disabled.
    pub(super) reason: Option<String>,
    pub(super) breaker: Breaker,
    /// Deliveries that wait for an attempt.
    pub(super) waiting: i64,
}

/// The circuit breaker of an endpoint.
pub(super) struct Breaker {
    pub(super) tone: &'static str,
    pub(super) word: &'static str,
    /// Until when nothing is sent.
    pub(super) until: Option<DateTime<Utc>>,
}

impl Health {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        let health = &endpoint.health;
        let is_disabled = endpoint.disabled_at.is_some();
        let is_failing =
            !is_disabled && (health.failing_since.is_some() || health.breaker.open_until.is_some());
        let (tone, word) = match (is_disabled, is_failing) {
            (true, _) => ("warn", "disabled"),
            (false, true) => ("no", "failing"),
            (false, false) => ("ok", "working"),
        };
        let since = endpoint.disabled_at.or(health.failing_since);
        Self {
            tone,
            word,
            is_failing,
            is_disabled,
            since,
            reason: endpoint.disabled_reason.clone(),
            breaker: Breaker::of(endpoint),
            waiting: endpoint.waiting,
        }
    }

    /// How many deliveries wait.
    pub(super) fn waits(&self) -> String {
        if self.waiting >= COUNTED {
            format!("{COUNTED} or more")
        } else {
            self.waiting.to_string()
        }
    }
}

impl Breaker {
    fn of(endpoint: &Endpoint) -> Self {
        let breaker = &endpoint.health.breaker;
        let until = match breaker.allows(endpoint.at) {
            Allowed::Nothing(until) => Some(until),
            Allowed::Asking | Allowed::Probing => None,
        };
        let (tone, word) = match breaker.state(endpoint.at) {
            BreakerState::Closed => ("ok", "closed"),
            BreakerState::Open => ("no", "open"),
            BreakerState::HalfOpen => ("warn", "half open"),
        };
        Self { tone, word, until }
    }

    pub(super) fn meaning(&self) -> &'static str {
        match self.word {
            "open" => "It kept failing, so nothing is sent until the next try.",
            "half open" => "One request tests whether it works again.",
            _ => "Requests are sent.",
        }
    }
}
